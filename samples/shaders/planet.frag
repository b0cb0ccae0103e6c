#version 450
#extension GL_GOOGLE_include_directive : require
// A banded gas planet with a thin atmosphere and the shadow of its ring.
#include "common.glsl"
#include "frame.glsl"
layout(location = 0) in vec3 world;
layout(location = 1) in vec3 facing;
layout(location = 0) out vec4 color;

void main() {
    vec3 n = normalize(facing);
    vec3 sun = normalize(vec3(-0.8, 0.35, 0.5));
    vec3 view = normalize(frame.eye.xyz - world);
    vec3 local = transpose(mat3(push.model)) * n;
    float swirl = noise(local * 5.0 + vec3(frame.misc.x * 0.02, 0.0, 0.0)) * 0.6 + noise(local * 13.0) * 0.3;
    float bands = sin(local.y * 15.0 + swirl * 2.2) * 0.5 + 0.5;
    float fine = sin(local.y * 47.0 + swirl * 4.5) * 0.5 + 0.5;
    vec3 base = mix(vec3(0.52, 0.29, 0.17), vec3(0.93, 0.78, 0.57), bands);
    base = mix(base, vec3(0.80, 0.50, 0.30), fine * 0.35);
    base = mix(base, vec3(0.32, 0.36, 0.46), smoothstep(0.62, 1.0, abs(local.y)));
    float light = max(dot(n, sun), 0.0);
    // Where the ray to the sun crosses the ring's plane.
    vec3 up = normalize(mat3(push.model)[1]);
    float t = -dot(world, up) / dot(sun, up);
    float r = length(world + t * sun);
    float ring = t > 0.0 ? smoothstep(1.45, 1.55, r) * (1.0 - smoothstep(2.6, 2.75, r)) * (0.55 + 0.3 * sin(r * 21.0)) : 0.0;
    float rim = pow(max(1.0 - max(dot(n, view), 0.0), 0.0), 3.0);
    vec3 lit = base * (0.010 + 1.15 * light * (1.0 - 0.8 * ring));
    lit += vec3(0.35, 0.55, 0.95) * rim * smoothstep(-0.15, 0.5, dot(n, sun));
    color = vec4(film(lit), 1.0);
}
