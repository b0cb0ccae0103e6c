#version 450
// Environment: vulkan1.1
// Counts invocations one by one and by one elected invocation of each subgroup. Helper invocations have no effect on memory, so none of them
// is elected beside others. Broadcasts of the first invocation take the lowest one of ballots.
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
layout(set = 0, binding = 0) buffer Counts { uint one_by_one; uint elected; uint different; };
layout(location = 0) out uvec4 result;
void main() {
    uint lane = gl_SubgroupInvocationID, first = subgroupBroadcastFirst(lane);
    uint covered = subgroupBallotBitCount(subgroupBallot(!gl_HelperInvocation));
    atomicAdd(one_by_one, 1u);
    if (subgroupElect()) atomicAdd(elected, covered);
    if (first != subgroupBallotFindLSB(subgroupBallot(true))) atomicAdd(different, 1u);
    result = uvec4(1u);
}
