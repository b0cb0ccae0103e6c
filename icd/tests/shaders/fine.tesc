#version 450
// Subdivides patches as far as that goes.
layout(vertices = 1) out;
void main() {
    gl_out[gl_InvocationID].gl_Position = gl_in[0].gl_Position;
    gl_TessLevelOuter = float[4](64.0, 64.0, 64.0, 64.0);
    gl_TessLevelInner = float[2](64.0, 64.0);
}
