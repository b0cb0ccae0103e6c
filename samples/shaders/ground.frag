#version 450
#extension GL_GOOGLE_include_directive : require
// Rock, grass and snow. In the water's mirror all of it hangs down, and is lit from below.
#include "common.glsl"
#include "frame.glsl"
#include "fjord.glsl"
layout(location = 0) in vec3 world;
layout(location = 1) in vec3 normal;
layout(location = 0) out vec4 color;

void main() {
    vec3 mirror = vec3(1.0, push.look.x, 1.0);
    vec3 at = world * mirror, n = normalize(normal) * mirror;
    float grain = flat_noise(at.xz * 9.0), fine = flat_noise(at.xz * 37.0 + at.y * 11.0);
    n = normalize(n + vec3(grain - 0.5, 0.0, fine - 0.5) * 0.45);
    vec3 rock = mix(vec3(0.13, 0.11, 0.11), vec3(0.27, 0.22, 0.19), fine * 0.7 + grain * 0.3);
    vec3 grass = mix(vec3(0.06, 0.08, 0.03), vec3(0.11, 0.11, 0.04), grain);
    vec3 snow = vec3(0.86, 0.88, 0.95);
    vec3 base = mix(rock, grass, smoothstep(0.62, 0.82, n.y) * smoothstep(1.15, 0.5, at.y + grain * 0.4));
    base = mix(base, snow, smoothstep(0.95, 1.35, at.y + (grain - 0.5) * 0.5) * smoothstep(0.42, 0.66, n.y));
    base = mix(vec3(0.12, 0.11, 0.10), base, smoothstep(0.0, 0.05, at.y));
    float sun = max(dot(n, SUN), 0.0), above = 0.5 + 0.5 * n.y;
    vec3 lit = base * (SUNLIGHT * sun + vec3(0.20, 0.24, 0.40) * above + vec3(0.10, 0.07, 0.05));
    color = vec4(film(aired(lit, world - frame.eye.xyz)), 1.0);
}
