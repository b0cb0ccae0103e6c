#version 450
// Writes the words of one buffer plus one to another.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer A { uint source[]; };
layout(set = 0, binding = 1, std430) writeonly buffer B { uint target[]; };
void main() { target[gl_GlobalInvocationID.x] = source[gl_GlobalInvocationID.x] + 1u; }
