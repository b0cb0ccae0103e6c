#version 460
// Environment: vulkan1.3
// A third of the invocations leaves, in the way that extra.z says: by discard, by demotion or by termination. The words are the active lanes
// before and after, the lanes that left, and 1 more than the helper invocations.
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_terminate_invocation : require
#extension GL_EXT_demote_to_helper_invocation : require
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) out uvec4 result;
void main() {
    uvec2 place = uvec2(gl_FragCoord.xy);
    bool leaves = (place.x + place.y) % 3u == 1u;
    uint before = subgroupAdd(1u), leaving = subgroupBallotBitCount(subgroupBallot(leaves));
    uint helpers = subgroupAdd(helperInvocationEXT() ? 1u : 0u);
    if (leaves && extra.z == 1.0) discard;
    if (leaves && extra.z == 2.0) demote;
    if (leaves && extra.z == 3.0) terminateInvocation;
    uint more = subgroupAdd(helperInvocationEXT() ? 1u : 0u);
    result = uvec4(before, subgroupAdd(1u), leaving, 1u + more - (extra.z == 2.0 ? helpers : 0u));
}
