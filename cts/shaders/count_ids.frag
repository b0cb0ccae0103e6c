#version 450
// Counts fragments, and adds the numbers of their primitives.
layout(set = 0, binding = 0, std430) buffer Words { uint words[]; };
layout(location = 0) out vec4 result;
void main() {
    atomicAdd(words[0], 1u);
    atomicAdd(words[1], uint(gl_PrimitiveID));
    result = vec4(1.0);
}
