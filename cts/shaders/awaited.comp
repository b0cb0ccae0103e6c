#version 450
// Workgroups of one invocation, each of which waits for the one before it.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) coherent buffer A { uint done; };
layout(set = 0, binding = 1, std430) buffer B { uint b[]; };
void main() {
    uint number = gl_WorkGroupID.x;
    while (atomicAdd(done, 0u) != number) {}
    b[number] = number == 0u ? 1u : b[number - 1u] * 3u + 1u;
    memoryBarrierBuffer();
    atomicAdd(done, 1u);
}
