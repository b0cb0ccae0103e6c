#version 450
#extension GL_GOOGLE_include_directive : require
// The sky over the fjord, with streaks of cloud.
#include "common.glsl"
#include "frame.glsl"
#include "fjord.glsl"
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;

void main() {
    mat4 back = inverse(frame.view_proj);
    vec4 end = back * vec4(uv * 2.0 - 1.0, 1.0, 1.0);
    vec3 ray = normalize(end.xyz / end.w - frame.eye.xyz);
    // Below the horizon the water's mirror.
    ray.y = abs(ray.y);
    vec3 seen = sky(ray);
    vec2 place = ray.xz / (ray.y + 0.1);
    float cloud = flat_noise(place * vec2(0.35, 1.1) + 2.0) * 0.6 + flat_noise(place * vec2(1.1, 3.7)) * 0.3;
    vec3 lining = mix(vec3(0.50, 0.30, 0.36), vec3(2.0, 1.0, 0.5), pow(max(dot(ray, SUN), 0.0), 5.0));
    seen = mix(seen, lining, smoothstep(0.42, 0.75, cloud) * smoothstep(0.02, 0.2, ray.y) * 0.7);
    color = vec4(film(seen), 1.0);
}
