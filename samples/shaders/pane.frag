#version 450
#extension GL_GOOGLE_include_directive : require
// Windows: a dark room with curtains, behind a reflection of the sky and of the opposite facades.
#include "common.glsl"
#include "frame.glsl"
#include "sunlight.glsl"
layout(location = 0) in vec3 world;
layout(location = 1) in vec3 facing;
layout(location = 2) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 2) uniform sampler2D surface;

void main() {
    vec3 n = normalize(facing), view = normalize(frame.eye.xyz - world);
    // Old panes are not quite flat.
    vec3 wavy = normalize(n + (vec3(noise(world * 1.7), noise(world * 1.7 + 9.0), noise(world * 1.7 + 21.0)) - 0.5) * 0.05);
    vec3 mirror = reflect(-view, wavy);
    float roofs = 0.42 + 0.10 * noise(vec3(mirror.xz * 6.0, 1.0));
    vec3 facade = vec3(0.42, 0.36, 0.29) * (0.4 + 0.6 * noise(mirror * vec3(14.0, 20.0, 14.0)));
    vec3 around = mix(facade, sky_light(mirror), smoothstep(roofs, roofs + 0.02, mirror.y));
    float fresnel = 0.08 + 0.92 * pow(1.0 - max(dot(n, view), 0.0), 5.0);
    float curtain = step(0.45, hash3(ivec3(floor(world * vec3(0.45, 0.31, 0.45))))) * smoothstep(0.3, 0.7, noise(vec3(world.xz * 9.0, 4.0)));
    vec3 room = push.color.rgb * texture(surface, uv).rgb + vec3(0.20, 0.18, 0.15) * curtain * step(0.05, push.color.b);
    float sun = sun_visible(world, n);
    vec3 light = room * (ambient(world, n) + SUN_LIGHT * max(dot(n, SUN), 0.0) * sun * 0.4) + around * fresnel;
    light += SUN_LIGHT * pow(max(dot(mirror, SUN), 0.0), 400.0) * 4.0 * sun;
    color = finish(light, world);
}
