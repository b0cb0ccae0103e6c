#version 450
// Hands lines on without their neighbours.
layout(lines_adjacency) in;
layout(line_strip, max_vertices = 2) out;
layout(location = 0) in vec4 color[];
layout(location = 0) out vec4 out_color;
void main() {
    gl_Position = gl_in[1].gl_Position;
    out_color = color[1];
    EmitVertex();
    gl_Position = gl_in[2].gl_Position;
    out_color = color[2];
    EmitVertex();
}
