#version 450
// Environment: vulkan1.1
// Images and buffers of texels of 64-bit integers: atomics, stores and loads.
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_image_int64 : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, r64ui) coherent uniform u64image2D image;
layout(set = 0, binding = 1, r64i) uniform i64image2D second;
layout(set = 0, binding = 2, r64ui) uniform u64imageBuffer texels;
layout(set = 0, binding = 3, std430) buffer Out { uint64_t words[]; };
void main() {
    int lane = int(gl_LocalInvocationIndex);
    uint64_t value = uint64_t(lane) << 31 | uint64_t(lane);
    imageAtomicAdd(image, ivec2(0, 0), value);
    imageAtomicMax(image, ivec2(1, 0), value);
    imageAtomicMin(image, ivec2(2, 0), ~value);
    imageAtomicOr(image, ivec2(3, 0), uint64_t(1) << lane);
    imageAtomicAnd(image, ivec2(4, 0), ~(uint64_t(1) << lane));
    imageAtomicXor(image, ivec2(5, 0), value * value);
    int64_t below = -int64_t(value);
    imageAtomicMin(second, ivec2(6, 1), below);
    imageAtomicMax(second, ivec2(7, 1), below - int64_t(1));
    imageAtomicAdd(second, ivec2(8, 1), below);
    // Each finds what the one before has left, or tries again.
    uint64_t mine = uint64_t(lane) * uint64_t(0x100000001ul);
    uint64_t next = mine + uint64_t(0x100000001ul);
    for (int turn = 0; turn < 64; turn++) {
        imageAtomicCompSwap(texels, 1, mine, next);
        barrier();
    }
    imageAtomicAdd(texels, 0, value);
    uint64_t before = imageAtomicExchange(texels, 2 + lane, next);
    imageStore(image, ivec2(lane, 1), u64vec4(value, 5, 6, 7));
    // Outside there is nothing.
    imageAtomicAdd(image, ivec2(64 + lane, 0), value);
    imageStore(second, ivec2(lane, 2), i64vec4(9));
    memoryBarrierImage();
    barrier();
    u64vec4 texel = imageLoad(image, ivec2(63 - lane, 1));
    words[lane * 3] = texel.x;
    words[lane * 3 + 1] = texel.y + texel.z * uint64_t(3) + texel.w;
    words[lane * 3 + 2] = before;
}
