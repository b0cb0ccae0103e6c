#version 450
// Hands primitives on as they come.
layout(points) in;
layout(points, max_vertices = 1) out;
layout(location = 0) in vec4 color[];
layout(location = 0) out vec4 out_color;
void main() {
    for (int vertex = 0; vertex < 1; vertex++) {
        gl_Position = gl_in[vertex].gl_Position;
        gl_PointSize = gl_in[vertex].gl_PointSize;
        out_color = color[vertex];
        EmitVertex();
    }
    EndPrimitive();
}
