#version 450
#extension GL_GOOGLE_include_directive : require
// The sky over the street, with fair-weather clouds.
#include "common.glsl"
#include "frame.glsl"
#include "sunlight.glsl"
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;

float cloud(vec2 p) {
    return noise(vec3(p, 1.0)) * 0.5 + noise(vec3(p * 2.1, 3.0)) * 0.27 + noise(vec3(p * 4.7, 7.0)) * 0.15 + noise(vec3(p * 9.9, 11.0)) * 0.08;
}

void main() {
    vec2 p = uv * 2.0 - 1.0;
    vec3 d = normalize(push.model[2].xyz + p.x * push.model[0].xyz + p.y * push.model[1].xyz);
    vec2 plane = d.xz / (max(d.y, 0.0) + 0.12) * 1.4 + frame.misc.x * vec2(0.02, 0.01);
    float c = cloud(plane), towards_sun = cloud(plane + SUN.xz * 0.12);
    float cover = smoothstep(0.47, 0.68, c) * smoothstep(0.02, 0.2, d.y);
    vec3 lit = mix(vec3(0.66, 0.70, 0.78), vec3(1.5, 1.42, 1.30), clamp(0.75 + (c - towards_sun) * 3.0, 0.0, 1.0));
    vec3 sky = mix(sky_light(d), lit, cover * 0.9);
    color = vec4(film(mix(sky, vec3(0.86, 0.88, 0.90), smoothstep(0.16, 0.0, d.y)) * 0.82), 1.0);
}
