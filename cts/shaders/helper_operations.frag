#version 460
// Environment: vulkan1.3
// Checks operations of subgroups that have helper invocations. A bit of the first word is set for each check that holds. The other words are
// the number of active lanes, the helper invocations of the quad, and 1.
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_quad : require
layout(location = 0) out uvec4 result;
uint passed = 0u, checks = 0u;
void expect(bool holds) {
    passed |= uint(holds) << checks;
    checks += 1u;
}
void check_counts(uint lane, uint count) {
    uvec4 all = subgroupBallot(true);
    expect(lane < count);
    expect(subgroupBallotBitCount(all) == count);
    expect(subgroupExclusiveAdd(1u) == subgroupBallotExclusiveBitCount(all));
    expect(subgroupMax(lane) == subgroupBallotFindMSB(all) && subgroupMin(lane) == subgroupBallotFindLSB(all));
    bool whole = true;
    for (uint i = 0u; i < 4u; ++i) whole = whole && subgroupBallotBitExtract(all, (lane & ~3u) + i);
    expect(whole);
    expect(subgroupClusteredAdd(1u, 4u) == 4u);
}
void check_shuffles(uint lane, uint place) {
    expect(subgroupShuffleXor(place, 0u) == place && subgroupShuffle(place, lane) == place);
    bool same = true;
    uint first = lane & ~3u;
    same = same && subgroupQuadBroadcast(place, 0u) == subgroupShuffle(place, first);
    same = same && subgroupQuadBroadcast(place, 1u) == subgroupShuffle(place, first + 1u);
    same = same && subgroupQuadBroadcast(place, 2u) == subgroupShuffle(place, first + 2u);
    same = same && subgroupQuadBroadcast(place, 3u) == subgroupShuffle(place, first + 3u);
    expect(same);
    expect(subgroupQuadSwapHorizontal(place) == subgroupShuffleXor(place, 1u));
    expect(subgroupQuadSwapVertical(place) == subgroupShuffleXor(place, 2u));
    expect(subgroupQuadSwapDiagonal(place) == subgroupShuffleXor(place, 3u));
    float value = float(place);
    expect(dFdx(subgroupShuffle(value, lane)) == dFdx(value) && dFdy(subgroupShuffle(value, lane)) == dFdy(value));
}
void check_votes(uint count) {
    bool helper = gl_HelperInvocation;
    uint helpers = subgroupAdd(helper ? 1u : 0u);
    expect(subgroupBallotBitCount(subgroupBallot(helper)) == helpers);
    expect(subgroupAny(helper) == (helpers != 0u));
    expect(subgroupAll(!helper) == (helpers == 0u));
    expect(subgroupAllEqual(helper) == (helpers == 0u || helpers == count));
    expect(helpers < count && subgroupAdd(helper ? 0u : 1u) + helpers == count);
}
void check_branches(uint count, uint place) {
    bool one = (place & 1u) != 0u;
    uint some = subgroupBallotBitCount(subgroupBallot(one)), seen;
    if (one) seen = subgroupAdd(1u); else seen = subgroupAdd(1u);
    expect(seen == (one ? some : count - some));
    expect(subgroupAdd(1u) == count);
}
void main() {
    uvec2 place = uvec2(gl_FragCoord.xy);
    uint lane = gl_SubgroupInvocationID, count = subgroupAdd(1u);
    check_counts(lane, count);
    check_shuffles(lane, place.x + 64u * place.y);
    check_votes(count);
    check_branches(count, place.x);
    expect(subgroupAdd(subgroupElect() ? 1u : 0u) == 1u);
    expect(subgroupBroadcastFirst(lane) == subgroupBallotFindLSB(subgroupBallot(true)));
    result = uvec4(passed, count, subgroupClusteredAdd(gl_HelperInvocation ? 1u : 0u, 4u), 1u);
}
