#version 450
// Moves triangles as views.vert does.
#extension GL_EXT_multiview : require
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) in vec4 color_in[];
layout(location = 0) out vec4 color_out;
void main() {
    for (int vertex = 0; vertex < 3; vertex++) {
        gl_Position = gl_in[vertex].gl_Position + vec4(float(gl_ViewIndex) * extra.y, 0.0, 0.0, 0.0);
        color_out = color_in[vertex];
        EmitVertex();
    }
}
