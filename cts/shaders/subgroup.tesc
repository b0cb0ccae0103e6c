#version 450
// Environment: vulkan1.1
// Invocations of a subgroup see each other: each leaves how many are active, and the sum of their numbers.
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
layout(vertices = 5) out;
layout(location = 0) in int id[];
layout(set = 0, binding = 0) buffer Records { uint calls; uint records[]; };
void main() {
    uint number = gl_PrimitiveID * 5 + gl_InvocationID;
    uint others = subgroupBallotBitCount(subgroupBallot(true)), of_all = subgroupAdd(number);
    atomicAdd(calls, 1u);
    records[number * 4] = gl_SubgroupInvocationID;
    records[number * 4 + 1] = others;
    records[number * 4 + 2] = of_all;
    records[number * 4 + 3] = gl_SubgroupSize;
    gl_TessLevelOuter = float[4](1.0, 1.0, 1.0, 1.0);
    gl_TessLevelInner = float[2](1.0, 1.0);
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID % gl_PatchVerticesIn].gl_Position;
}
