#version 450
// Captures where vertices lie in the domain, and the number of their patch, below those of its vertices.
layout(triangles, equal_spacing, ccw) in;
layout(xfb_buffer = 0, xfb_stride = 32) out;
layout(location = 0) in int id[];
layout(location = 0, xfb_offset = 0) out vec4 color;
layout(location = 1, xfb_offset = 16) out ivec4 ids;
void main() {
    color = vec4(gl_TessCoord, gl_PrimitiveID);
    ids = ivec4(id[0], id[1], id[2], gl_PatchVerticesIn);
    gl_Position = vec4(gl_TessCoord.xy * 2.0 - 1.0, 0.5, 1.0);
    gl_PointSize = 1.0;
}
