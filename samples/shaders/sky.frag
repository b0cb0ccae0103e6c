#version 450
#extension GL_GOOGLE_include_directive : require
// One face of the sky: evening gradient, sun, clouds and a dark sea.
#include "common.glsl"
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(push_constant) uniform Push {
    vec4 right;
    vec4 down;
    vec4 forward; // time in w
} push;

void main() {
    vec2 p = uv * 2.0 - 1.0;
    vec3 d = normalize(push.forward.xyz + p.x * push.right.xyz + p.y * push.down.xyz);
    vec3 sun = normalize(vec3(-0.55, 0.16, -0.82));
    float near_sun = max(dot(d, sun), 0.0);
    vec3 high = mix(vec3(0.92, 0.44, 0.22), vec3(0.06, 0.12, 0.34), smoothstep(-0.02, 0.45, d.y));
    vec3 sky = high + vec3(1.0, 0.5, 0.2) * pow(near_sun, 8.0) * 0.6 + vec3(6.0, 4.5, 3.0) * smoothstep(0.9988, 0.9993, near_sun);
    vec2 plane = d.xz / (abs(d.y) + 0.08) * 1.3 + push.forward.w * vec2(0.12, 0.05);
    float cloud = noise(vec3(plane, 1.0)) * 0.55 + noise(vec3(plane * 2.3, 3.0)) * 0.3 + noise(vec3(plane * 5.1, 7.0)) * 0.15;
    float cover = smoothstep(0.46, 0.72, cloud) * smoothstep(0.0, 0.12, d.y);
    vec3 lit = mix(vec3(0.50, 0.26, 0.30), vec3(1.5, 0.85, 0.5), clamp(pow(near_sun, 3.0) + 0.7 - cloud, 0.0, 1.0));
    sky = mix(sky, lit, cover * 0.85);
    if (d.y < 0.0) {
        // The sea: a dark mirror of the horizon with a path of light under the sun.
        float wave = noise(vec3(plane * 9.0, push.forward.w)) - 0.5;
        float path = pow(max(dot(normalize(vec3(d.x, 0.0, d.z)), normalize(vec3(sun.x, 0.0, sun.z))), 0.0), 90.0);
        vec3 sea = mix(vec3(0.42, 0.22, 0.17), vec3(0.012, 0.022, 0.05), 1.0 - smoothstep(-0.35, 0.0, d.y));
        sky = sea * (1.0 + wave * 0.6) + vec3(2.0, 1.1, 0.5) * path * smoothstep(-0.1, 0.45, wave) * smoothstep(-0.6, 0.0, d.y);
    }
    color = vec4(sky, 1.0);
}
