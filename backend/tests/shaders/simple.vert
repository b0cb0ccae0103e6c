#version 450
layout(location = 0) in vec3 position;
layout(location = 1) in vec2 uv;
layout(location = 0) out vec2 out_uv;
layout(push_constant) uniform Push { mat4 transform; };
void main() {
    gl_Position = transform * vec4(position, 1.0);
    out_uv = uv;
}
