#version 450
#extension GL_GOOGLE_include_directive : require
// Sky, clouds and ground behind the grass.
#include "common.glsl"
#include "frame.glsl"
#include "meadow.glsl"
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;

void main() {
    // The camera is not turned but about x: see scenes/meadow.rs.
    vec2 at = (uv * 2.0 - 1.0) * frame.misc.w * vec2(frame.misc.y, 1.0);
    vec3 ray = normalize(vec3(at.x, -at.y * push.look.x + push.look.y, -push.look.x - at.y * push.look.y));
    vec3 seen = sky(ray);
    if (ray.y > 0.0) {
        vec2 place = ray.xz / (ray.y + 0.12);
        float cloud = noise(vec3(place * 1.4, frame.misc.x * 0.02)) * 0.6 + noise(vec3(place * 3.7, 7.0)) * 0.3;
        vec3 lining = mix(vec3(0.55, 0.30, 0.28), vec3(1.9, 1.0, 0.5), pow(max(dot(ray, SUN), 0.0), 8.0));
        seen = mix(seen, lining, smoothstep(0.48, 0.75, cloud) * smoothstep(0.0, 0.15, ray.y) * 0.75);
    } else {
        vec3 way = ray * (frame.eye.y / max(-ray.y, 0.004));
        seen = misted(vec3(0.035, 0.045, 0.012), way);
    }
    color = vec4(film(seen), 1.0);
}
