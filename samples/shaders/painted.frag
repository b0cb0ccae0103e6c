#version 450
#extension GL_GOOGLE_include_directive : require
// Painted parts: dust on top, bare metal where the paint is scratched.
#include "common.glsl"
#include "frame.glsl"
#include "workshop.glsl"

void main() {
    vec3 n = normalize(gl_FrontFacing ? facing : -facing);
    vec3 marks = worn(n, 0.9);
    float scratch = smoothstep(0.5, 0.9, marks.r) * 0.5;
    float dust = smoothstep(0.25, 0.8, marks.g) * (0.25 + 0.45 * max(n.y, 0.0));
    vec3 base = mix(tint.rgb, vec3(0.36, 0.34, 0.31), dust);
    base = mix(base, vec3(0.55), scratch);
    color = shown(lit(n, base, clamp(0.78 - 0.5 * tint.a + 0.3 * dust, 0.15, 1.0), scratch));
}
