#version 450
// Only a position: the rest of the built-in block is declared and never written.
void main() { gl_Position = vec4(gl_VertexIndex & 1, gl_VertexIndex >> 1, 0.0, 1.0); }
