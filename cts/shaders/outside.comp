#version 450
// What is read outside of buffers and images, and what becomes of what is written there.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) buffer S { uint s[]; };
layout(set = 0, binding = 1) uniform samplerBuffer reds;
layout(set = 0, binding = 2) uniform sampler2D red;
layout(set = 0, binding = 3) uniform sampler2D four;
layout(set = 0, binding = 4) uniform U { uvec4 u[64]; };
layout(set = 0, binding = 5, std430) buffer O { vec4 o[10]; };
layout(push_constant) uniform Push { int far; };
void main() {
    o[0] = texelFetch(reds, far);
    o[1] = texelFetch(red, ivec2(far, 0), 0);
    o[2] = texelFetch(red, ivec2(0, -far), 0);
    o[3] = texelFetch(four, ivec2(far, 0), 0);
    o[4] = texelFetch(red, ivec2(0, 0), far);
    o[5] = vec4(s[far], s[far + 1], float(s.length()), s[0]);
    o[6] = vec4(u[far]);
    o[7] = texelFetch(reds, 0);
    o[8] = texelFetch(red, ivec2(0), 0);
    o[9] = vec4(uintBitsToFloat(u[1].x), 0.0, 0.0, 0.0);
    s[far] = 77u;
}
