#version 450
#extension GL_GOOGLE_include_directive : require
// A lamp that shines downwards, with a housing on its upper side.
#include "common.glsl"
#include "frame.glsl"
#include "workshop.glsl"

void main() {
    vec3 n = normalize(gl_FrontFacing ? facing : -facing);
    vec3 housing = lit(n, vec3(0.6), 0.6, 0.0);
    float glow = smoothstep(0.3, -0.3, n.y);
    color = shown(mix(housing, tint.rgb * tint.a * 0.5, glow) + worn(n, 1.0) * 0.02);
}
