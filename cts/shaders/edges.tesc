#version 450
// Four corners of a square. An edge's level follows from its middle, so that neighbours agree.
layout(vertices = 4) out;
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) in vec4 colors[];
layout(location = 0) out vec4 out_colors[];
float level(int a, int b) {
    vec4 sum = gl_in[a].gl_Position + gl_in[b].gl_Position;
    uint hash = floatBitsToUint(sum.x + 9.0) * 0x9e3779b1u ^ floatBitsToUint(sum.y + 5.0) * 0x85ebca6bu;
    hash ^= hash >> 15;
    hash *= 0xc2b2ae35u;
    return rect.x + float(hash >> 16) / 65536.0 * rect.y;
}
void main() {
    out_colors[gl_InvocationID] = colors[gl_InvocationID];
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    if (gl_InvocationID == 2) {
        gl_TessLevelOuter[0] = level(0, 3);
        gl_TessLevelOuter[1] = level(0, 1);
        gl_TessLevelOuter[2] = level(1, 2);
        gl_TessLevelOuter[3] = level(3, 2);
        gl_TessLevelInner[0] = level(0, 2);
        gl_TessLevelInner[1] = level(1, 3);
    }
}
