#version 460
// Environment: vulkan1.3
// Fragments check their subgroups where lanes part, and their quads: green the group, blue the quad, red what the vertices found.
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_quad : require
#extension GL_KHR_shader_subgroup_vote : require
layout(location = 0) flat in uint vertices;
layout(location = 0) out vec4 result;
uvec2 place = uvec2(gl_FragCoord.xy);
bool group() {
    uint value = place.x * 64u + place.y, sum = 0u;
    uvec4 mask = subgroupBallot(true);
    for (uint i = 0u; i < gl_SubgroupSize; ++i) {
        uint other = subgroupShuffle(value, i);
        if (subgroupBallotBitExtract(mask, i)) sum += other;
    }
    uint elected = subgroupAdd(subgroupElect() ? 1u : 0u);
    return sum == subgroupAdd(value) && elected == 1u && subgroupMin(value) <= value;
}
void main() {
    bool across = subgroupQuadSwapHorizontal(place.x) == (place.x ^ 1u) && subgroupQuadSwapVertical(place.y) == (place.y ^ 1u);
    bool first = subgroupQuadBroadcast(place.x, 0u) == (place.x & ~1u) && subgroupQuadBroadcast(place.y, 3u) == (place.y | 1u);
    bool good = group();
    if (place.x % 3u == 1u) good = good && group(); else if (place.y > 4u) good = good && group();
    // Each turn serves what one invocation has: all get their turn, helpers as well.
    uint turns = 0u;
    for (; turns < 64u; ++turns) {
        if (subgroupBroadcastFirst(place.x) == place.x) break;
    }
    result = vec4(float(vertices), good && turns < 16u ? 1.0 : 0.0, across && first ? 1.0 : 0.0, 1.0);
}
