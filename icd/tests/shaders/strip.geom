#version 450
// Passes triangles on.
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
void main() {
    for (int corner = 0; corner < 3; corner++) {
        gl_Position = gl_in[corner].gl_Position;
        EmitVertex();
    }
}
