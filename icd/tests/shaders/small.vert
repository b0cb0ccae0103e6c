#version 450
// Triangles, or other primitives, of about a pixel each, all over the view.
void main() {
    uint of = uint(gl_VertexIndex) / 3u + uint(gl_InstanceIndex);
    vec2 corner = vec2(gl_VertexIndex % 3 == 1, gl_VertexIndex % 3 == 2);
    gl_Position = vec4((vec2(of % 64u, of / 64u % 64u) + corner) / 32.0 - 1.0, 0.5, 1.0);
    gl_PointSize = 1.0;
}
