#version 450
// Hands triangles on without their neighbours.
layout(triangles_adjacency) in;
layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in vec4 color[];
layout(location = 0) out vec4 out_color;
void main() {
    for (int vertex = 0; vertex < 6; vertex += 2) {
        gl_Position = gl_in[vertex].gl_Position;
        out_color = color[vertex];
        EmitVertex();
    }
}
