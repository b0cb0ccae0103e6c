#version 460
// Environment: vulkan1.3
// A rectangle as rect.vert makes it, whose vertices check their subgroups.
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) flat out uint good;
void main() {
    vec2 corner = vec2[](vec2(0, 0), vec2(1, 0), vec2(0, 1), vec2(0, 1), vec2(1, 0), vec2(1, 1))[gl_VertexIndex % 6];
    gl_Position = vec4(mix(rect.xy, rect.zw, corner), extra.x, 1.0);
    uint value = uint(gl_VertexIndex) * 7u + 1u, sum = 0u;
    uvec4 mask = subgroupBallot(true);
    for (uint i = 0u; i < gl_SubgroupSize; ++i) {
        uint other = subgroupShuffle(value, i);
        if (subgroupBallotBitExtract(mask, i)) sum += other;
    }
    uint elected = subgroupAdd(subgroupElect() ? 1u : 0u);
    bool first = subgroupBroadcastFirst(gl_SubgroupInvocationID) == subgroupBallotFindLSB(mask);
    good = sum == subgroupAdd(value) && elected == 1u && first ? 1u : 0u;
}
