#version 450
// Environment: vulkan1.1
// Atomics on floats of 32 and 64 bits: in a buffer, in shared memory, in texels.
#extension GL_EXT_shader_atomic_float : require
#extension GL_EXT_shader_atomic_float2 : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer A { float sum; float least; float most; float last; double wide_sum; double wide_least; double wide_most; double wide_last; } a;
layout(set = 0, binding = 1, std430) buffer B { float b[64]; };
layout(set = 0, binding = 2, r32f) uniform imageBuffer texels;
shared float together;
shared float largest;
shared double wide_together;
void main() {
    uint lane = gl_LocalInvocationIndex;
    if (lane == 0u) { together = 0.5; largest = -1.0; wide_together = 0.25; }
    barrier();
    float value = float(lane);
    atomicAdd(together, value);
    atomicMax(largest, value);
    atomicAdd(wide_together, double(value) * 0.5lf);
    atomicAdd(a.sum, value);
    atomicMin(a.least, 10.0 - value);
    atomicMax(a.most, value * 3.0);
    atomicAdd(a.wide_sum, double(value) + 0.125lf);
    atomicMin(a.wide_least, -double(value));
    atomicMax(a.wide_most, double(value) * 1e100lf);
    imageAtomicAdd(texels, 0, value);
    imageAtomicMin(texels, 1, 3.0 - value);
    imageAtomicMax(texels, 2, value);
    float before = imageAtomicExchange(texels, 3 + int(lane), value);
    barrier();
    b[lane] = together + largest * 10000.0 + float(wide_together) + before * 0.0;
    if (lane == 0u) { atomicExchange(a.last, 7.5); }
    if (lane == 1u) { atomicExchange(a.wide_last, wide_together); }
}
