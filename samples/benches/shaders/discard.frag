#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
void main() {
    vec2 cell = fract(uv * 40.0) - 0.5;
    if (dot(cell, cell) > 0.2) {
        discard;
    }
    color = vec4(cell, uv);
}
