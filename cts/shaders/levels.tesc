#version 450
// Hands vertices on. The levels are the draw's.
layout(vertices = 3) out;
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) in int id[];
layout(location = 0) out int out_id[];
void main() {
    out_id[gl_InvocationID] = id[gl_InvocationID];
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    if (gl_InvocationID == 0) {
        gl_TessLevelOuter = float[4](rect.x, rect.y, rect.z, rect.w);
        gl_TessLevelInner = float[2](color.x, color.y);
    }
}
