#version 450
// A textured object: world position, normal and texture coordinate.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 texcoord;
layout(location = 0) out vec3 world;
layout(location = 1) out vec3 facing;
layout(location = 2) out vec2 uv;
layout(set = 0, binding = 0) uniform Frame {
    mat4 view_proj;
    vec4 eye;
} frame;
layout(push_constant) uniform Push {
    mat4 model;
    vec4 look; // fog start, shine, whether a contact shadow is drawn
} push;

void main() {
    vec4 at = push.model * vec4(position, 1.0);
    gl_Position = frame.view_proj * at;
    world = at.xyz;
    facing = mat3(push.model) * normal;
    uv = texcoord;
}
