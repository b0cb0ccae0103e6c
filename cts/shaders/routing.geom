#version 450
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in vec4 color[];
layout(location = 1) in int route[];
layout(location = 0) out vec4 out_color;
void main() {
    for (int vertex = 0; vertex < 3; vertex++) {
        gl_Position = gl_in[vertex].gl_Position;
        gl_ViewportIndex = route[vertex] & 15;
        gl_Layer = route[vertex] >> 4;
        out_color = color[vertex];
        EmitVertex();
    }
}
