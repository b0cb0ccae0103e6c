#version 460
// Environment: vulkan1.1
// Atomics on 64-bit integers and on floats, in buffers and shared memory.
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_shader_atomic_float : require
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uvec2 words[]; };
layout(set = 0, binding = 1, std430) buffer Wide { uint64_t sums[]; };
layout(set = 0, binding = 2, std430) buffer Floats { float floats[]; };
shared uint64_t total;
shared float weight;
uint lane = gl_LocalInvocationIndex;
void main() {
    if (lane == 0u) { total = 5ul; weight = 0.5; }
    barrier();
    uint64_t step = 0x80000001ul * uint64_t(lane + 1u);
    uint64_t before = atomicAdd(total, step);
    atomicAdd(weight, float(lane));
    barrier();
    words[lane * 3u] = unpack32(before);
    words[lane * 3u + 1u] = unpack32(total);
    words[lane * 3u + 2u] = uvec2(floatBitsToUint(weight), floatBitsToUint(atomicExchange(floats[2], float(lane))));
    atomicAdd(sums[0], step); atomicMax(sums[1], step); atomicMin(sums[2], step); atomicXor(sums[3], step);
    atomicOr(sums[4], 1ul << (lane * 4u)); atomicAnd(sums[5], ~(1ul << (lane * 2u)));
    atomicCompSwap(sums[6], uint64_t(lane), uint64_t(lane + 1u)); atomicExchange(sums[7], step);
    atomicMin(sums[8], uint64_t(lane)); atomicAdd(floats[0], 0.25); atomicAdd(floats[1], float(lane));
}
