#version 450
// Adds four bilinear samples.
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform sampler2D image;
void main() {
    color = texture(image, uv) + texture(image, uv * 1.3) + texture(image, uv * 1.7 + 0.1) + texture(image, uv.yx);
}
