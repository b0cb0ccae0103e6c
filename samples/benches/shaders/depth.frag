#version 450
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
void main() {
    vec2 cell = fract(uv * 40.0) - 0.5;
    gl_FragDepth = gl_FragCoord.z + dot(cell, cell) * 0.01;
    color = vec4(cell, uv);
}
