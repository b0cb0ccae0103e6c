#version 450
// Counts who has run: one word for each workgroup of an 8x8x8 grid, with the invocation that came, and how many groups there were.
layout(local_size_x = 2) in;
layout(set = 0, binding = 0, std430) buffer B { uint b[]; };
void main() {
    uvec3 id = gl_WorkGroupID;
    uint at = id.x + 8u * id.y + 64u * id.z;
    uint number = gl_NumWorkGroups.x + 8u * gl_NumWorkGroups.y + 64u * gl_NumWorkGroups.z;
    bool first = gl_GlobalInvocationID.x == id.x * 2u;
    atomicAdd(b[at], first ? 1u + number * 4u : 2u);
}
