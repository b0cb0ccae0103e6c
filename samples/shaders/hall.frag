#version 450
#extension GL_GOOGLE_include_directive : require
// Floor, walls and roof: coated concrete with joints, and sheets of trapezoidal profile.
#include "common.glsl"
#include "frame.glsl"
#include "workshop.glsl"

void main() {
    vec3 n = normalize(gl_FrontFacing ? facing : -facing);
    vec3 marks = worn(n, 0.35);
    vec3 base = tint.rgb * (0.78 + 0.3 * marks.g);
    float rough = 0.8;
    if (n.y > 0.5) {
        vec2 slab = abs(fract(world.xz / 3.5 + 0.5) - 0.5);
        base *= mix(0.55, 1.0, smoothstep(0.0015, 0.004, min(slab.x, slab.y)));
        float stain = smoothstep(0.55, 0.8, noise(world * vec3(0.9, 1.0, 0.9)) * 0.7 + marks.g * 0.4);
        base *= 1.0 - 0.35 * stain;
        rough = mix(0.42, 0.22, stain) + 0.25 * marks.r;
    } else {
        float along = abs(n.x) > 0.5 ? world.z : world.x;
        float rib = fract(along * 3.0);
        float slope = smoothstep(0.0, 0.08, rib) - smoothstep(0.5, 0.58, rib);
        base *= 0.82 + 0.18 * slope;
        base *= mix(0.7, 1.0, smoothstep(0.0, 1.6, world.y));
    }
    color = shown(lit(n, base, clamp(rough, 0.2, 1.0), 0.0));
}
