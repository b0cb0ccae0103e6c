#version 450
// Triangles that cover everything, one before the other.
layout(push_constant) uniform Push { float depth; };
layout(location = 0) out vec2 uv;
void main() {
    uv = vec2(gl_VertexIndex & 2, gl_VertexIndex << 1 & 2);
    gl_Position = vec4(uv * 2.0 - 1.0, depth, 1.0);
}
