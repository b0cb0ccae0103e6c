#version 450
// An image of integers up to 255.
layout(location = 1) in vec2 uv;
layout(location = 0) out vec4 result;
layout(set = 0, binding = 0) uniform usampler2D image;
void main() { result = vec4(texture(image, uv)) / 255.0; }
