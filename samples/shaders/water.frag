#version 450
#extension GL_GOOGLE_include_directive : require
// Water over what it mirrors: it hides the more of it, the steeper one looks down, and has waves that glitter.
#include "common.glsl"
#include "frame.glsl"
#include "fjord.glsl"
layout(location = 0) in vec3 world;
layout(location = 0) out vec4 color;

void main() {
    vec3 way = world - frame.eye.xyz, ray = normalize(way);
    float far = length(way), calm = 1.0 / (1.0 + far * far * 0.35);
    vec2 drift = vec2(frame.misc.x * 0.05, frame.misc.x * 0.03);
    vec2 wave = vec2(flat_noise(world.xz * vec2(9.0, 26.0) + drift), flat_noise(world.xz * vec2(7.0, 21.0) + 5.0 - drift));
    vec3 n = normalize(vec3((wave.x - 0.5) * 0.16, 1.0, (wave.y - 0.5) * 0.3) * vec3(calm, 1.0, calm));
    vec3 back = reflect(ray, n);
    float grazing = pow(1.0 - max(-dot(ray, n), 0.0), 2.5);
    vec3 deep = vec3(0.015, 0.035, 0.045);
    float glitter = pow(max(dot(back, SUN), 0.0), 90.0);
    vec3 lit = mix(deep, sky(vec3(back.x, abs(back.y), back.z)), 0.35 * grazing) + SUNLIGHT * glitter * 0.5;
    color = vec4(film(aired(lit, way)), clamp(0.88 - 0.80 * grazing + glitter + (wave.y - 0.5) * 0.3 * calm, 0.0, 1.0));
}
