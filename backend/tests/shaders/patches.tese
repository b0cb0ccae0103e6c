#version 450
// Captures what the control shader left of its vertices and of its patch.
layout(triangles, equal_spacing, ccw) in;
layout(xfb_buffer = 0, xfb_stride = 32) out;
layout(location = 0) in ivec2 seen[];
layout(location = 1) in vec4 wide[][2];
layout(location = 4) patch in ivec4 sums[3];
layout(location = 0, xfb_offset = 0) out vec4 color;
layout(location = 1, xfb_offset = 16) out ivec4 ids;
void main() {
    int total = 0, others = 0;
    bool good = true;
    for (int vertex = 0; vertex < gl_PatchVerticesIn; vertex++) {
        int number = seen[vertex].x, odd = number & 1;
        total += number;
        others += seen[vertex].y;
        vec4 expected = odd == 0 ? vec4(number, 0.5, 0.0, -1.0) : vec4(2.0, float(number) + 0.25, 4.0, 8.0);
        vec4 place = vec4(float(number % 7) * 0.25 - 0.75, float(number % 5) * 0.25 - 0.5, 0.5, 1.0);
        good = good && wide[vertex][odd] == expected && gl_in[vertex].gl_Position == place;
    }
    int one = gl_PatchVerticesIn > 0 ? 1 : 0;
    good = good && sums[one].yw == ivec2(gl_PatchVerticesIn, gl_PrimitiveID) && others == sums[1].x;
    ids = ivec4(total, sums[one].x, sums[1].z, good ? gl_PatchVerticesIn : -7);
    color = vec4(1.0);
    gl_Position = vec4(gl_TessCoord.xy * 2.0 - 1.0, 0.5, 1.0);
}
