#version 450
// A word of two buffers, one of a uniform block, and one of a texture, each with its own weight.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) uniform U { uint u; };
layout(set = 0, binding = 1, std430) readonly buffer A { uint a; };
layout(set = 0, binding = 2, std430) readonly buffer B { uint b; };
layout(set = 1, binding = 0, std430) buffer O { uint o[16]; };
layout(push_constant) uniform Push { uint at; };
void main() { o[at] = u + 16u * a + 256u * b; }
