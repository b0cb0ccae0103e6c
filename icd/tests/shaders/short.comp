#version 450
// Ends at once.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) buffer Words { uint words[]; };
void main() {
    words[1] = gl_GlobalInvocationID.x;
}
