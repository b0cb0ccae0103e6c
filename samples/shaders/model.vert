#version 450
// A normal-mapped object: world position, tangent frame and texture coordinate.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 texcoord;
layout(location = 3) in vec4 tangent;
layout(location = 0) out vec3 world;
layout(location = 1) out vec3 facing;
layout(location = 2) out vec4 along;
layout(location = 3) out vec2 uv;
layout(set = 0, binding = 0) uniform Frame {
    mat4 view_proj;
    mat4 model;
    vec4 eye;
    vec4 size; // aspect ratio in x
} frame;

void main() {
    vec4 at = frame.model * vec4(position, 1.0);
    gl_Position = frame.view_proj * at;
    world = at.xyz;
    facing = mat3(frame.model) * normal;
    along = vec4(mat3(frame.model) * tangent.xyz, tangent.w);
    uv = texcoord;
}
