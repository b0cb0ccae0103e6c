#version 450
// Never ends, and never stops emitting.
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
layout(set = 0, binding = 0, std430) readonly buffer Words { uint words[]; };
void main() {
    while (words[0] == 0u) {
        gl_Position = gl_in[0].gl_Position;
        EmitVertex();
    }
}
