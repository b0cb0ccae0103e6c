#version 450
// Points in four streams, other numbers of them in each. Those of the second are seen: a cell of row 5 for each input.
layout(points) in;
layout(points, max_vertices = 24) out;
layout(location = 1) flat in uint number[];
layout(stream = 0, location = 1, xfb_buffer = 3, xfb_stride = 4, xfb_offset = 0) flat out uint zeroth;
layout(stream = 1, location = 0) out vec4 color;
layout(stream = 1, location = 2, xfb_buffer = 0, xfb_stride = 8, xfb_offset = 0) flat out uvec2 first;
layout(stream = 2, location = 3, xfb_buffer = 1, xfb_stride = 16, xfb_offset = 4) flat out uint second;
layout(stream = 2, location = 4, xfb_buffer = 2, xfb_stride = 4, xfb_offset = 0) flat out uint again;
layout(stream = 3, location = 5) flat out uint third;
void main() {
    uint n = number[0];
    for (uint turn = 0; turn < 6; turn++) {
        gl_Position = vec4((float(n) + 0.5) / 8.0 - 1.0, 5.5 / 8.0 - 1.0, 0.5, 1.0);
        gl_PointSize = 1.0;
        if (turn < n % 3) {
            zeroth = n * 10 + turn;
            EmitStreamVertex(0);
        }
        if (turn == 2) {
            color = vec4(0.0, 1.0, 0.0, 1.0);
            first = uvec2(n, 77);
            EmitStreamVertex(1);
        }
        if (turn < n % 5) {
            second = n * 100 + turn;
            again = ~second;
            EmitStreamVertex(2);
        }
        third = 1;
        EmitStreamVertex(3);
    }
}
