#version 460
// Environment: vulkan1.1
// Atomics on the texels of a storage image of floats.
#extension GL_EXT_shader_atomic_float : require
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { float words[]; };
layout(set = 0, binding = 1, r32f) uniform image2D image;
uint lane = gl_LocalInvocationIndex;
void main() {
    ivec2 own = ivec2(lane & 3u, lane >> 2);
    float before = imageAtomicAdd(image, own, 0.25);
    imageAtomicAdd(image, ivec2(0, 4), float(lane));
    words[lane * 2u] = before;
    words[lane * 2u + 1u] = imageAtomicExchange(image, own, 9.0);
    barrier();
    if (lane == 0u) words[32] = imageLoad(image, ivec2(0, 4)).x;
}
