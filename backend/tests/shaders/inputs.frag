#version 450
// Interpolation of every kind, interface blocks, components, arrays with dynamic indices, built-ins, dual-source outputs.
layout(location = 0) in Block { vec4 a; flat uint b; noperspective centroid vec2 c; sample float d[3]; mat3 m; } block;
layout(location = 10, component = 1) in vec2 part;
layout(location = 10, component = 3) in float rest;
layout(location = 11) in vec3 list[4];
layout(location = 15) flat in ivec4 whole;
in float gl_ClipDistance[2];
in float gl_CullDistance[1];
layout(location = 0, index = 0) out vec4 color;
layout(location = 0, index = 1) out vec4 other;
layout(depth_greater) out float gl_FragDepth;
layout(constant_id = 0) const bool EXTRA = true;
void main() {
    int i = whole.x & 3;
    vec4 c = block.a + vec4(block.b) + vec4(block.c, block.d[i % 3], 0.0) + vec4(block.m[i % 3], block.m[1][i % 3]);
    c += vec4(list[i], list[i][i % 3]) + vec4(part, rest, gl_PointCoord.x) + vec4(gl_ClipDistance[i & 1], gl_CullDistance[0], 0.0, 0.0);
    c += interpolateAtCentroid(block.a) + interpolateAtSample(block.a, gl_SampleID) + vec4(interpolateAtOffset(list[2], vec2(0.25)), 0.0);
    c += vec4(interpolateAtOffset(list[i], vec2(0.1)), interpolateAtCentroid(part).x);
    c += dFdx(c) + dFdyFine(c.yxwz) + fwidthCoarse(c) + fwidth(c) * (gl_FrontFacing ? 1.0 : -1.0);
    c.xy += gl_SamplePosition + vec2(gl_SampleMaskIn[0], gl_PrimitiveID) + vec2(gl_Layer, gl_ViewportIndex);
    if (gl_HelperInvocation) c.z = 1.0;
    if (EXTRA && c.w < 0.0) discard;
    gl_FragDepth = gl_FragCoord.z + 0.1;
    gl_SampleMask[0] = whole.y;
    color = c; other = c.wzyx;
}
