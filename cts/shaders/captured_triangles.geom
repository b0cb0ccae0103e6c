#version 450
// Every triangle twice, as a strip and turned over, with its number.
layout(triangles, invocations = 2) in;
layout(triangle_strip, max_vertices = 7) out;
layout(location = 1) flat in uint number[];
layout(location = 0) out vec4 color;
layout(location = 1, xfb_buffer = 2, xfb_stride = 12, xfb_offset = 0) flat out uvec2 captured;
layout(location = 2, xfb_buffer = 2, xfb_offset = 8) out float third;
void add(int vertex) {
    gl_Position = vec4(0.0, 0.0, 0.5, 1.0);
    captured = uvec2(number[vertex], gl_PrimitiveIDIn * 2 + gl_InvocationID);
    third = float(vertex);
    color = vec4(1.0);
    EmitVertex();
}
void main() {
    add(0); add(1); add(2); add(0);
    EndPrimitive();
    if (gl_PrimitiveIDIn % 3 != 1) {
        add(2); add(1); add(0);
    } else {
        add(2); add(1);
    }
}
