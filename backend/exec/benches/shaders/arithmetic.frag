#version 450
// Runs a loop of multiply-adds and fractions, then a few functions, like a procedural shader.
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
void main() {
    vec4 a = vec4(uv, uv.yx), b = a * 0.5 + 0.25;
    for (int turn = 0; turn < 25; turn++) {
        a = a * b + vec4(0.1, 0.2, 0.3, 0.4);
        b = b * 0.9 + a * 0.05;
        a = fract(a) + 0.01;
    }
    color = vec4(sin(a.x), exp2(-b.y), sqrt(abs(a.z)), 1.0);
}
