#version 450
// Three corners of a triangle. An edge's level follows from its middle, so that neighbours agree.
layout(vertices = 3) out;
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
    // Each sets that of the edge across from it.
    int next = (gl_InvocationID + 1) % 3, last = (gl_InvocationID + 2) % 3;
    gl_TessLevelOuter[gl_InvocationID] = level(next, last);
    gl_TessLevelInner[0] = rect.x + rect.y * 0.5;
}
