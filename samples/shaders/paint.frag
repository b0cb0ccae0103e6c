#version 450
#extension GL_GOOGLE_include_directive : require
// Car paint: a diffuse coat, and the reflected street.
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
    vec3 base = push.color.rgb * texture(surface, uv).rgb;
    float dust = noise(world * 2.6) * 0.5 + noise(world * 7.1) * 0.25;
    base = mix(base, vec3(0.34, 0.31, 0.27), dust * smoothstep(0.9, 0.2, world.y) * 0.5);
    float diffuse = max(dot(n, SUN), 0.0);
    float sun = sun_visible(world, n);
    vec3 mirror = reflect(-view, n);
    // Facades stand up to about 50 degrees above the horizon of a street.
    vec3 facade = vec3(0.34, 0.29, 0.23) * (0.6 + 0.5 * noise(mirror * 9.0));
    vec3 around = mix(facade, sky_light(mirror), smoothstep(0.45, 0.62, mirror.y));
    around = mix(vec3(0.12, 0.115, 0.11), around, smoothstep(-0.08, 0.05, mirror.y));
    float fresnel = 0.05 + 0.95 * pow(1.0 - max(dot(n, view), 0.0), 5.0);
    vec3 light = base * (ambient(world, n) + SUN_LIGHT * diffuse * sun) + around * fresnel;
    light += SUN_LIGHT * pow(max(dot(mirror, SUN), 0.0), 220.0) * 3.0 * sun;
    color = finish(light, world);
}
