#version 450
// Spreads a patch over the view.
layout(quads) in;
void main() {
    gl_Position = vec4(gl_TessCoord.xy * 2.0 - 1.0, 0.5, 1.0);
}
