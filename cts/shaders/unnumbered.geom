#version 450
// Reads its primitives' numbers, and hands them on as they come.
layout(points) in;
layout(points, max_vertices = 1) out;
void main() {
    gl_Position = vec4(float(gl_PrimitiveIDIn) / 8.0 - 1.0 + 1.0 / 16.0, 1.0 / 16.0, 0.5, 1.0);
    gl_PointSize = 1.0;
    gl_PrimitiveID = gl_PrimitiveIDIn;
    EmitVertex();
}
