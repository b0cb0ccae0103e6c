#version 450
// Writes the color after a loop, so that the shader counts as long.
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;
void main() {
    vec4 most = color;
    for (int turn = 0; turn < int(gl_FragCoord.x) % 4 + 1; ++turn) most = max(most.yzwx, color.yzwx).wxyz;
    result = most;
}
