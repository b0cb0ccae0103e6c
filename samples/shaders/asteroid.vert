#version 450
#extension GL_GOOGLE_include_directive : require
// A rock: a deformed sphere, placed, turned and scaled by its instance data.
#include "common.glsl"
#include "frame.glsl"
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 place; // angle, radius, height, scale
layout(location = 3) in vec4 spin;  // axis, speed
layout(location = 4) in vec4 tint;
layout(location = 0) out vec3 world;
layout(location = 1) out vec3 facing;
layout(location = 2) out vec3 shade;

vec3 turn(vec3 p, vec3 axis, float angle) {
    float s = sin(angle), c = cos(angle);
    return p * c + cross(axis, p) * s + axis * dot(axis, p) * (1.0 - c);
}

void main() {
    float angle = frame.misc.x * spin.w;
    vec3 bumpy = position * (0.75 + 0.5 * noise(position * 1.7 + place.xyz * 9.0)) * vec3(1.0, 0.72, 0.85);
    vec3 rock = turn(bumpy, spin.xyz, angle) * place.w;
    float orbit = place.x + frame.misc.x * 0.35 / (place.y * sqrt(place.y));
    vec3 at = vec3(sin(orbit) * place.y, place.z, cos(orbit) * place.y) + rock;
    world = (push.model * vec4(at, 1.0)).xyz;
    gl_Position = frame.view_proj * vec4(world, 1.0);
    facing = mat3(push.model) * turn(normal, spin.xyz, angle);
    shade = tint.rgb;
}
