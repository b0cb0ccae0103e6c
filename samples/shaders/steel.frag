#version 450
#extension GL_GOOGLE_include_directive : require
// Bare metal parts, brushed, with oil in the corners.
#include "common.glsl"
#include "frame.glsl"
#include "workshop.glsl"

void main() {
    vec3 n = normalize(gl_FrontFacing ? facing : -facing);
    vec3 marks = worn(n, 2.0);
    float oil = smoothstep(0.5, 0.85, noise(world * 3.0) * 0.6 + marks.g * 0.5);
    vec3 base = tint.rgb * (0.72 + 0.4 * marks.b);
    base = mix(base, base * vec3(0.42, 0.36, 0.30), oil * 0.7);
    color = shown(lit(n, base, clamp(0.62 - 0.35 * tint.a + 0.25 * marks.b, 0.2, 1.0), 0.82));
}
