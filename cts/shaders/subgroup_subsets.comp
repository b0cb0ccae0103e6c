#version 460
// Environment: vulkan1.3
// Sums of subsets of a subgroup, some of whose invocations are not there.
#extension GL_NV_shader_subgroup_partitioned : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Out { uvec4 words[]; };
void main() {
    uint at = gl_LocalInvocationIndex, lane = gl_SubgroupInvocationID;
    words[at] = uvec4(0u);
    if (lane % 4u != 1u) {
        uvec4 subset = subgroupPartitionNV(vec2((lane * 7u + 3u) % 5u, 0.5));
        uint sum = subgroupPartitionedAddNV(at, subset);
        uint most = subgroupPartitionedInclusiveMaxNV(at ^ 5u, subset);
        float below = subgroupPartitionedExclusiveAddNV(float(at), subset);
        words[at] = uvec4(subset.x, sum, most, floatBitsToUint(below));
    }
}
