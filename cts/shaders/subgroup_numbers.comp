#version 460
// Environment: vulkan1.3
// Sums and exchanges of numbers that are not words: the constant says of which.
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_subgroup_extended_types_int8 : require
#extension GL_EXT_shader_subgroup_extended_types_int16 : require
#extension GL_EXT_shader_subgroup_extended_types_int64 : require
#extension GL_EXT_shader_subgroup_extended_types_float16 : require
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint KIND = 0u;
layout(set = 0, binding = 0, std430) buffer Out { uvec4 words[]; };
#define RUN(T, WIDEN) { T x = T(number); sum = WIDEN(subgroupAdd(x)); other = WIDEN(subgroupShuffleXor(x, 1u)); } break;
void main() {
    uint at = gl_LocalInvocationIndex, place = gl_SubgroupID << 8 | gl_SubgroupInvocationID;
    int64_t number = int64_t(at) * 0x123456789l - 77l, sum = 0l, other = 0l;
    switch (KIND) {
    case 0u: RUN(int8_t, int64_t)
    case 1u: RUN(int16_t, int64_t)
    case 2u: RUN(int64_t, int64_t)
    case 3u: number = int64_t(at); RUN(float16_t, int64_t)
    }
    words[at] = uvec4(unpack32(uint64_t(sum)), unpack32(uint64_t(other)).x, place);
}
