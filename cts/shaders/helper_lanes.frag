#version 450
// Environment: vulkan1.1
// Counts the lanes of a subgroup by a sum and reads a value back through a shuffle. Helper invocations must take part in both.
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(location = 0) out uvec4 result;
void main() {
    float keep = dFdx(gl_FragCoord.x);
    uint place = uint(gl_FragCoord.x) + 13u * uint(gl_FragCoord.y);
    result = uvec4(subgroupAdd(1u) + uint(keep > 1e9), gl_SubgroupInvocationID, subgroupShuffleXor(place, 0u), place);
}
