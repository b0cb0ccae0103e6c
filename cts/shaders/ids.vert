#version 450
// Vertices that hand their numbers to geometry shaders, at positions that differ.
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) out int id;
layout(location = 1) out vec4 values[2];
void main() {
    id = gl_VertexIndex + 1000 * gl_InstanceIndex;
    values[0] = vec4(gl_VertexIndex, 0.5, gl_InstanceIndex, -1.0);
    values[1] = vec4(2.0, gl_VertexIndex + 0.25, 4.0, 8.0);
    gl_Position = vec4(float(gl_VertexIndex % 7) * 0.25 - 0.75, float(gl_VertexIndex % 5) * 0.25 - 0.5, 0.5, 1.0);
    gl_PointSize = 1.0;
}
