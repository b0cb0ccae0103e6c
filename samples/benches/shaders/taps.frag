#version 450
// Fifteen neighbours of a texel.
layout(binding = 0) uniform sampler2D picture;
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
vec4 at(float x, float y) { return texture(picture, uv + vec2(x, y) / 1024.0); }
vec4 row(float y) { return at(-2.0, y) + at(-1.0, y) + at(0.0, y) + at(1.0, y) + at(2.0, y); }
void main() { color = (row(-1.0) + row(0.0) + row(1.0)) / 15.0; }
