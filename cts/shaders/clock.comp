#version 450
// Environment: vulkan1.1
// Clocks of the subgroup and of the device, around some work: what goes back, and the device's first and last time.
#extension GL_ARB_shader_clock : require
#extension GL_EXT_shader_realtime_clock : require
#extension GL_ARB_gpu_shader_int64 : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer A { uint wrong; uint sum; };
layout(set = 0, binding = 1, std430) buffer B { uvec4 times[64]; };
void main() {
    uint lane = gl_LocalInvocationIndex;
    uint64_t first = clockARB();
    uvec2 device = clockRealtime2x32EXT();
    uint work = lane;
    for (uint step = 0u; step < 1000u; step++) work = work * 1664525u + 1013904223u;
    atomicAdd(sum, work);
    uvec2 second = clock2x32ARB();
    uint64_t last = clockRealtimeEXT();
    if (packUint2x32(second) < first) atomicOr(wrong, 1u);
    if (last < packUint2x32(device)) atomicOr(wrong, 2u);
    times[lane] = uvec4(device, unpackUint2x32(last));
}
