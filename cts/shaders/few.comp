#version 450
// Workgroups of few invocations: what each is told of itself, what it finds in a loop of its own length, and how many there are.
layout(local_size_x_id = 0) in;
layout(push_constant) uniform P { uint first; };
layout(set = 0, binding = 0, std430) buffer A { uint count; };
layout(set = 0, binding = 1, std430) buffer B { uvec4 b[]; };
void main() {
    uvec3 group = gl_WorkGroupID, all = gl_NumWorkGroups, at = gl_GlobalInvocationID;
    uint number = group.x + all.x * (group.y + all.y * group.z);
    uint sum = first;
    for (uint i = 0u; i < number % 7u; i++) {
        if ((i & 1u) == (gl_LocalInvocationID.x & 1u)) continue;
        sum += i * group.x + at.x;
    }
    if (number % 3u == 1u) return;
    atomicAdd(count, 1u);
    uint place = number * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    b[place] = uvec4(at.x | at.y << 16 | at.z << 24, group.x | group.y << 8 | group.z << 16, gl_LocalInvocationIndex, sum);
}
