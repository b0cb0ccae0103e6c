#version 450
#extension GL_GOOGLE_include_directive : require
// Glass and liquids: refracted light of the window, absorbed along its path, and a reflection by
// Fresnel. Blending lets objects behind show through.
#include "common.glsl"
#include "frame.glsl"
#include "room.glsl"
layout(location = 0) in vec3 world;
layout(location = 1) in vec3 facing;
layout(location = 2) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 1) uniform sampler2D surface;

void main() {
    bool far = !gl_FrontFacing;
    vec3 view = normalize(frame.eye.xyz - world);
    vec3 n = normalize(far ? -facing : facing);
    // Blown glass is uneven.
    n = normalize(n + (vec3(noise(world * 28.0), noise(world * 28.0 + 5.0), noise(world * 28.0 + 11.0)) - 0.5) * 0.07);
    float nv = max(dot(n, view), 0.0);
    float fresnel = 0.04 + 0.96 * pow(1.0 - nv, 5.0);
    float liquid = push.look.x;
    float way = push.color.a * mix(0.35 + 0.25 / (nv + 0.22), 0.9, liquid) * (far ? 0.6 : 1.0);
    vec3 dimmed = pow(max(push.color.rgb, vec3(0.02)), vec3(way * 1.6));
    vec3 bent = refract(-view, n, 1.0 / mix(1.45, 1.33, liquid));
    vec3 through = room(world, normalize(bent + vec3(0.0, 0.0, -0.15)));
    vec3 inner = push.color.rgb * diffuse_light(world, n) * 0.10 * texture(surface, uv).rgb;
    vec3 mirror = room(world, reflect(-view, n));
    float glint = smoothstep(0.97, 0.995, dot(reflect(-view, n), normalize(vec3(0.3, 0.35, 0.88))));
    float cover = clamp(1.0 - dot(dimmed, vec3(0.30, 0.45, 0.25)), 0.06, 0.94) * (far ? 0.55 : 0.85);
    cover = max(cover, fresnel);
    vec3 light = (through * dimmed + inner) * (1.0 - fresnel) + (mirror * fresnel + vec3(2.0) * glint * (1.0 - liquid)) / max(cover, 0.25);
    color = vec4(film(light * 0.8), cover);
}
