#version 450
// Says the number of the patch, and hands triangles on.
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in vec4 color[];
layout(location = 0) out vec4 out_color;
void main() {
    for (int vertex = 0; vertex < 3; vertex++) {
        gl_Position = gl_in[vertex].gl_Position;
        gl_PrimitiveID = gl_PrimitiveIDIn;
        out_color = vec4(float(gl_PrimitiveIDIn) / 255.0, color[vertex].yz, 1.0);
        EmitVertex();
    }
}
