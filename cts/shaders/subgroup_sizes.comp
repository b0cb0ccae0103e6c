#version 460
// Environment: vulkan1.3
// What each invocation knows of its subgroup.
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
void main() {
    uint at = (gl_WorkGroupID.x * 64u + gl_LocalInvocationIndex) * 6u;
    words[at] = gl_SubgroupSize;
    words[at + 1u] = gl_NumSubgroups;
    words[at + 2u] = gl_SubgroupID;
    words[at + 3u] = gl_SubgroupInvocationID;
    words[at + 4u] = subgroupBallotBitCount(subgroupBallot(true));
    words[at + 5u] = 1u;
}
