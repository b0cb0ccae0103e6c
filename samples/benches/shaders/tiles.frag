#version 450
// Writes four attachments, or fewer.
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 result[4];
void main() {
    for (int i = 0; i < 4; i++) result[i] = vec4(uv, 0.25 * i, 0.5);
}
