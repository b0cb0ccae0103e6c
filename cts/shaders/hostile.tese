#version 450
// Indices that are far outside.
layout(triangles, equal_spacing, ccw) in;
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) in int id[];
layout(location = 1) patch in vec4 table[4];
layout(location = 0) out vec4 out_color;
void main() {
    int far = floatBitsToInt(color.x);
    out_color = table[far] + vec4(id[far]) + gl_in[far].gl_Position;
    gl_Position = vec4(gl_TessCoord.xy * 2.0 - 1.0, 0.5, 1.0);
}
