#version 450
// Specialization constants in sizes, expressions and composites; the workgroup size; built-in ids.

layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { uint data[]; };
uint lane = gl_LocalInvocationIndex;
layout(local_size_x_id = 0, local_size_y_id = 1) in;
layout(constant_id = 2) const uint COUNT = 3u;
layout(constant_id = 3) const bool FLAG = false;
layout(constant_id = 4) const float SCALE = 1.5;
layout(constant_id = 5) const int DELTA = -2;
const uint DOUBLE = COUNT * 2u + 1u;
const int MIXED = FLAG ? DELTA : DELTA * 10;
const uvec3 VECTOR = uvec3(COUNT, DOUBLE, 5u);
void main() {
    uint sum = 0u; uint list[DOUBLE];
    for (uint i = 0u; i < DOUBLE; i++) list[i] = i;
    for (uint i = 0u; i < uint(list.length()); i++) sum += list[i];
    uint id = gl_LocalInvocationIndex;
    uint at = id * 4u;
    words[at] = sum + VECTOR.x * 100u + VECTOR.y * 1000u;
    words[at + 1u] = uint(MIXED);
    words[at + 2u] = gl_WorkGroupSize.x * 10000u + gl_WorkGroupSize.y * 1000u + gl_LocalInvocationID.x * 100u + gl_LocalInvocationID.y * 10u + gl_NumWorkGroups.z;
    words[at + 3u] = floatBitsToUint(SCALE * 2.0) + (gl_GlobalInvocationID.y - gl_LocalInvocationID.y);
}
