#version 460
// Votes and ballots as extensions of Vulkan 1.0 had them.
#extension GL_ARB_shader_ballot : require
#extension GL_ARB_shader_group_vote : require
#extension GL_ARB_gpu_shader_int64 : require
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { uint data[]; };
void main() {
    uint lane = gl_LocalInvocationIndex, at = lane * 8u, x = data[lane];
    uvec2 odd = unpackUint2x32(ballotARB((x & 1u) != 0u));
    words[at] = odd.x | odd.y << 16;
    words[at + 1u] = readFirstInvocationARB(x);
    words[at + 2u] = readInvocationARB(x, 9u);
    words[at + 3u] = uint(anyInvocationARB(lane == 4u)) | uint(allInvocationsARB(lane < 15u)) << 1 | uint(allInvocationsEqualARB(lane < 16u)) << 2;
    words[at + 4u] = unpackUint2x32(gl_SubGroupLtMaskARB).x | gl_SubGroupSizeARB << 16;
    if (lane % 2u == 1u) words[at + 5u] = readFirstInvocationARB(lane); else words[at + 5u] = unpackUint2x32(ballotARB(lane > 7u)).x;
    words[at + 6u] = gl_SubGroupInvocationARB;
    words[at + 7u] = unpackUint2x32(gl_SubGroupGeMaskARB).x ^ unpackUint2x32(gl_SubGroupEqMaskARB).x;
}
