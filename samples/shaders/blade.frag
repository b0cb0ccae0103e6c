#version 450
#extension GL_GOOGLE_include_directive : require
// Grass against the light of a low sun: it shines through.
#include "common.glsl"
#include "frame.glsl"
#include "meadow.glsl"
layout(location = 0) in vec3 normal;
layout(location = 1) in vec3 world;
layout(location = 2) in vec2 along;
layout(location = 0) out vec4 color;

void main() {
    vec3 n = normalize(normal), eye = normalize(frame.eye.xyz - world);
    n = dot(n, eye) < 0.0 ? -n : n;
    float t = along.x;
    vec3 base = mix(vec3(0.10, 0.20, 0.04), vec3(0.30, 0.30, 0.07), along.y);
    float shade = 0.12 + 0.88 * t * t;
    float front = max(dot(n, SUN), 0.0), through = pow(max(dot(-eye, SUN), 0.0), 3.0) * (0.35 + 0.65 * abs(dot(n, SUN)));
    vec3 lit = base * (vec3(0.10, 0.13, 0.20) + SUNLIGHT * (0.55 * front + 1.5 * through * t)) * shade;
    lit += SUNLIGHT * 0.10 * pow(max(dot(reflect(-SUN, n), eye), 0.0), 16.0) * t;
    color = vec4(film(misted(lit, world - frame.eye.xyz)), 1.0);
}
