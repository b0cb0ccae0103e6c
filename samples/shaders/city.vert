#version 450
#extension GL_GOOGLE_include_directive : require
// An object of the street: world position, normal and texture coordinate.
#include "frame.glsl"
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 texture_uv;
layout(location = 0) out vec3 world;
layout(location = 1) out vec3 facing;
layout(location = 2) out vec2 uv;

void main() {
    vec4 at = push.model * vec4(position, 1.0);
    gl_Position = frame.view_proj * at;
    world = at.xyz;
    facing = mat3(push.model) * normal;
    uv = texture_uv;
}
