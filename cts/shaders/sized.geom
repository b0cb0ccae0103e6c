#version 450
// Points of the size that the draw says, in the middle.
layout(points) in;
layout(points, max_vertices = 1) out;
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) out vec4 out_color;
void main() {
    gl_Position = vec4(0.0, 0.0, 0.5, 1.0);
    gl_PointSize = extra.z;
    out_color = color;
    EmitVertex();
}
