#version 450
#extension GL_EXT_multiview : require
// Hands triangles on in the colour of the view.
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) out vec4 out_color;
void main() {
    for (int vertex = 0; vertex < 3; vertex++) {
        gl_Position = gl_in[vertex].gl_Position;
        out_color = vec4(float(gl_ViewIndex * 50 + 20), 0.0, 0.0, 255.0) / 255.0;
        EmitVertex();
    }
}
