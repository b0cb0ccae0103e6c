#version 450
#extension GL_GOOGLE_include_directive : require
// Glowing tubes and dark lacquer, in high dynamic range.
#include "common.glsl"
#include "frame.glsl"
layout(location = 0) in vec3 world;
layout(location = 1) in vec3 facing;
layout(location = 0) out vec4 color;

void main() {
    vec3 n = normalize(facing);
    vec3 view = normalize(frame.eye.xyz - world);
    float nv = max(dot(n, view), 0.0);
    if (push.look.x > 0.0) {
        // A tube: white-hot inside, coloured at the rim.
        color = vec4(push.color.rgb * push.look.x * (0.35 + 0.65 * nv) + vec3(pow(nv, 8.0)) * 0.5, 1.0);
        return;
    }
    // Lacquer lit by the tubes: three coloured lights and a rim.
    vec3 lit = vec3(0.004, 0.005, 0.009);
    for (int i = 0; i < 3; i++) {
        float a = float(i) * 2.0944 + 0.4;
        vec3 to = vec3(cos(a) * 2.0, 0.9, sin(a) * 2.0) - world;
        vec3 tint = 0.5 + 0.5 * cos(vec3(0.0, 2.1, 4.2) + float(i) * 2.1);
        vec3 l = normalize(to);
        float shine = pow(max(dot(n, normalize(l + view)), 0.0), 70.0);
        lit += tint * (push.color.rgb * max(dot(n, l), 0.0) + shine * 1.6) * 1.6 / (0.6 + dot(to, to) * 0.35);
    }
    lit += push.color.rgb * pow(max(1.0 - nv, 0.0), 4.0) * 0.6;
    if (push.look.y > 0.0) {
        vec2 grid = abs(fract(world.xz * 1.25) - 0.5);
        float width = 0.012 + 0.006 * length(frame.eye.xyz - world) * 0.35;
        float line = smoothstep(0.5 - width, 0.5, max(grid.x, grid.y));
        float fade = exp(-0.045 * dot(world.xz, world.xz));
        lit = lit * 0.35 * fade + vec3(0.10, 0.32, 0.85) * line * fade * 1.5;
    }
    color = vec4(lit, 1.0);
}
