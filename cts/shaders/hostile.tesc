#version 450
// Indices that are far outside.
layout(vertices = 3) out;
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) in int id[];
layout(location = 0) out int out_id[];
layout(location = 1) patch out vec4 table[4];
void main() {
    int far = floatBitsToInt(color.x);
    out_id[gl_InvocationID] = id[gl_InvocationID] + id[far] + int(gl_in[far].gl_Position.x);
    table[far] = vec4(far);
    barrier();
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position + table[far * 3] * 0.0 + out_id[far] * 0.0;
    gl_TessLevelOuter[far & 3] = rect.x;
    gl_TessLevelOuter[0] = rect.x;
    gl_TessLevelOuter[1] = rect.y;
    gl_TessLevelOuter[2] = rect.z;
    gl_TessLevelInner[0] = rect.w;
}
