#version 450
#extension GL_GOOGLE_include_directive : require
// Opaque objects of the apothecary: wood, brass, stone and wax.
#include "common.glsl"
#include "frame.glsl"
#include "room.glsl"
layout(location = 0) in vec3 world;
layout(location = 1) in vec3 facing;
layout(location = 2) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 1) uniform sampler2D surface;

void main() {
    vec3 n = normalize(facing), view = normalize(frame.eye.xyz - world);
    vec3 weight = n * n;
    vec3 p = world * 0.9;
    vec4 texel = texture(surface, p.zy) * weight.x + texture(surface, p.xz) * weight.y + texture(surface, p.xy) * weight.z;
    vec3 base = texel.rgb * push.color.rgb;
    float gloss = push.look.x, metal = smoothstep(0.6, 0.9, gloss);
    base *= 0.8 + 0.35 * noise(world * 9.0);
    vec3 f0 = mix(vec3(0.04), base, metal);
    vec3 fresnel = f0 + (1.0 - f0) * pow(1.0 - max(dot(n, view), 0.0), 5.0) * (0.3 + 0.7 * gloss);
    vec3 rough = (vec3(noise(world * 60.0), noise(world * 60.0 + 7.0), noise(world * 60.0 + 19.0)) - 0.5) * 0.10 * (1.2 - gloss);
    vec3 mirror = room(world, normalize(reflect(-view, n) + rough));
    vec3 light = base * (1.0 - metal) * diffuse_light(world, n) + mirror * fresnel * (0.25 + 0.75 * gloss);
    color = vec4(film(light * 0.8), 1.0);
}
