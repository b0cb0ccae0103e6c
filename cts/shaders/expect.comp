#version 450
// Ends only if two buffers are equal.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly volatile buffer A { uint found[]; };
layout(set = 0, binding = 1, std430) readonly buffer B { uint expected[]; };
void main() {
    uint number = gl_GlobalInvocationID.x;
    while (found[number] != expected[number]) {}
}
