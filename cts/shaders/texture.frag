#version 450
layout(location = 1) in vec2 uv;
layout(location = 0) out vec4 result;
layout(set = 0, binding = 0) uniform sampler2D image;
void main() { result = texture(image, uv); }
