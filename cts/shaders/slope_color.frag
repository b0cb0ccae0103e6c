#version 450
// Writes the color after a loop, unless derivatives are wrong. They need whole quads.
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;
void main() {
    vec4 most = color;
    for (int turn = 0; turn < int(gl_FragCoord.x) % 4 + 1; ++turn) most = max(most.yzwx, color.yzwx).wxyz;
    bool right = dFdx(gl_FragCoord.x) == 1.0 && dFdy(gl_FragCoord.y) == 1.0;
    result = right ? most : vec4(1.0) - most;
}
