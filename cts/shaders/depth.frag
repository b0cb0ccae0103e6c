#version 450
// Replaces depth: near in the left half, far in the right one.
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;
void main() {
    result = color;
    gl_FragDepth = gl_FragCoord.x < 8.0 ? 0.1 : 0.9;
}
