#version 450
// Blocks whose members are packed as scalars are, and uniform blocks as storage blocks are.
#extension GL_EXT_scalar_block_layout : require
layout(local_size_x = 64) in;
struct Part { float a; vec3 b; vec2 c; };
layout(set = 0, binding = 0, scalar) buffer A { float first; Part parts[10]; vec3 last; } a;
layout(set = 0, binding = 1, scalar) buffer B { float b[]; };
layout(set = 0, binding = 2, std430) uniform C { float before; float packed[8]; vec2 pairs[4]; } c;
layout(set = 0, binding = 3, scalar) uniform D { vec3 before; float packed[8]; vec3 threes[4]; } d;
void main() {
    uint lane = gl_LocalInvocationIndex;
    Part part = a.parts[lane % 10u];
    float value = part.a + 2.0 * part.b.y + 3.0 * part.b.z + 4.0 * part.c.y + 5.0 * a.last.z;
    b[lane] = value + 6.0 * c.packed[lane % 8u] + 7.0 * c.pairs[lane % 4u].y + 8.0 * d.packed[lane % 8u] + 9.0 * d.threes[lane % 4u].z;
}
