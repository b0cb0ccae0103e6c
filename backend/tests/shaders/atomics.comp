#version 450
// Atomics on a storage buffer and on shared memory; memory barriers.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { uint data[]; };
uint lane = gl_LocalInvocationIndex;
shared uint total; shared int low; shared uint slots[4];
void main() {
    if (lane == 0u) { total = 0u; low = 100; }
    if (lane < 4u) slots[lane] = 0u;
    barrier();
    atomicAdd(total, lane + 1u); atomicMin(low, int(lane) - 5); atomicOr(slots[lane & 3u], 1u << lane);
    uint ticket = atomicAdd(words[0], 1u);
    atomicMax(words[1], lane * lane); atomicXor(words[2], 1u << lane); atomicAnd(words[3], ~(1u << lane));
    atomicExchange(words[4], 77u); atomicCompSwap(words[5], lane, lane + 1u);
    memoryBarrierShared(); barrier();
    words[16u + ticket] = ticket + 1000u;
    if (lane == 15u) { words[6] = total; words[7] = uint(low); }
    if (lane < 4u) words[8u + lane] = slots[lane];
}
