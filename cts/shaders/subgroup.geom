#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
// Environment: vulkan1.1
// Invocations of a subgroup count each other: each says its number, how many there are, and the sum of all numbers.
layout(points) in;
layout(points, max_vertices = 4) out;
layout(location = 0) in int id[];
layout(set = 0, binding = 0) buffer Records { uint calls; int records[]; };
void main() {
    atomicAdd(calls, 1u);
    uint count = subgroupBallotBitCount(subgroupBallot(true));
    int at = gl_PrimitiveIDIn * 4;
    records[at] = int(gl_SubgroupInvocationID);
    records[at + 1] = int(count);
    records[at + 2] = subgroupAdd(id[0]);
    records[at + 3] = int(gl_SubgroupSize);
}
