#version 460
// Environment: vulkan1.1
// Subgroup operations, in uniform and divergent control flow.
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_quad : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_subgroup_extended_types_int64 : require
#extension GL_EXT_shader_subgroup_extended_types_int8 : require
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { uint data[]; };
uint lane = gl_LocalInvocationIndex;
uint at = lane * 40u;
void put(uint value) { words[at++] = value; }
void main() {
    uint x = data[lane];
    put(gl_SubgroupSize | gl_SubgroupInvocationID << 8 | gl_NumSubgroups << 16 | gl_SubgroupID << 24);
    put(gl_SubgroupLtMask.x | gl_SubgroupGeMask.x << 16); put(gl_SubgroupEqMask.x | (gl_SubgroupLeMask.x ^ gl_SubgroupGtMask.x) << 16);
    put(subgroupAdd(x)); put(subgroupMul(x | 1u)); put(subgroupMin(x)); put(uint(subgroupMax(int(x)))); put(subgroupAnd(x | 3u));
    put(subgroupOr(x)); put(subgroupXor(x)); put(subgroupInclusiveAdd(x)); put(subgroupExclusiveAdd(x));
    put(floatBitsToUint(subgroupExclusiveMax(float(x & 255u))));
    put(subgroupClusteredAdd(x, 4u)); put(subgroupClusteredMax(x, 8u));
    put(subgroupBroadcast(x, 5u)); put(subgroupBroadcastFirst(x)); put(subgroupShuffle(x, 15u - lane)); put(subgroupShuffleXor(x, 3u));
    put(lane >= 2u ? subgroupShuffleUp(x, 2u) : 0u); put(lane < 13u ? subgroupShuffleDown(x, 3u) : 0u);
    put(subgroupQuadBroadcast(x, 2u)); put(subgroupQuadSwapHorizontal(x)); put(subgroupQuadSwapVertical(x) ^ subgroupQuadSwapDiagonal(x));
    uvec4 odd = subgroupBallot((x & 1u) != 0u);
    put(odd.x | odd.y); put(subgroupBallotBitCount(odd) | subgroupBallotInclusiveBitCount(odd) << 8 | subgroupBallotExclusiveBitCount(odd) << 16);
    put(subgroupInverseBallot(odd) ? 1u : 0u); put(subgroupBallotFindLSB(odd) | subgroupBallotFindMSB(odd) << 8);
    put((subgroupAll(x > 0u) ? 1u : 0u) | (subgroupAny(lane == 3u) ? 2u : 0u) | (subgroupAllEqual(x) ? 4u : 0u) | (subgroupAllEqual(7u) ? 8u : 0u));
    if (lane % 3u == 1u) {
        put(subgroupAdd(x)); put(subgroupBallot(true).x); put(subgroupElect() ? 1u : 0u);
        put(subgroupExclusiveAdd(1u)); put(subgroupBroadcastFirst(lane)); put(subgroupAllEqual(lane % 3u) ? 1u : 0u);
    } else {
        put(subgroupMin(x)); put(subgroupBallot(lane > 8u).x); put(subgroupElect() ? 1u : 0u);
        put(subgroupInclusiveAdd(2u)); put(subgroupMax(lane)); put(subgroupOr(1u << lane));
    }
    uvec2 wide = unpack32(subgroupAdd(uint64_t(x) << 20));
    put(wide.x); put(wide.y);
    put(uint(int(subgroupMin(int8_t(x)))));
    uint turns = 0u;
    for (uint i = 0u; i <= lane; ++i) turns += subgroupAdd(1u);
    put(turns);
}
