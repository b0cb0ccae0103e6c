#version 450
// Numbers of vertices in two buffers, whose vertices have gaps.
layout(xfb_buffer = 0, xfb_stride = 32) out;
layout(xfb_buffer = 1, xfb_stride = 8) out;
layout(location = 0) out vec4 color;
layout(location = 1, xfb_buffer = 0, xfb_offset = 20) flat out uint number;
layout(location = 2, xfb_buffer = 0, xfb_offset = 4) out vec3 values;
layout(location = 3, xfb_buffer = 1, xfb_offset = 4) flat out uint other;
layout(xfb_buffer = 0) out gl_PerVertex {
    layout(xfb_offset = 24) float gl_PointSize;
    vec4 gl_Position;
};
void main() {
    color = vec4(1.0);
    number = uint(gl_VertexIndex) + 1000000u * uint(gl_InstanceIndex);
    values = vec3(gl_VertexIndex, 0.5, -2.0);
    other = ~number;
    // All over the place, also outside of the volume.
    gl_Position = vec4(float(gl_VertexIndex % 7) - 3.0, float(gl_VertexIndex % 5) - 2.0, 0.5, 1.0);
    gl_PointSize = 1.0;
}
