#version 460
// Environment: vulkan1.2
// Subgroup operations on numbers of every width: the constant says which.
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_quad : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_subgroup_extended_types_int8 : require
#extension GL_EXT_shader_subgroup_extended_types_int16 : require
#extension GL_EXT_shader_subgroup_extended_types_int64 : require
#extension GL_EXT_shader_subgroup_extended_types_float16 : require
#extension GL_EXT_subgroup_uniform_control_flow : require
layout(local_size_x = 16) in;
layout(constant_id = 0) const uint KIND = 0u;
layout(set = 0, binding = 0, std430) buffer Out { uvec2 words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { uvec2 data[]; };
uint lane = gl_LocalInvocationIndex;
uint at = lane * 28u;
void put(uvec2 value) { words[at++] = value; }
#define INTEGER(value) put(unpack32(uint64_t(int64_t(value))))
#define FLOAT(value) put(unpack32(doubleBitsToUint64(double(value))))
#define SHARED(T, PUT, x, y) \
    PUT(subgroupAdd(x)); PUT(subgroupMul(y)); PUT(subgroupMin(x)); PUT(subgroupMax(x)); \
    PUT(subgroupInclusiveAdd(x)); PUT(subgroupExclusiveAdd(x)); PUT(subgroupInclusiveMul(y)); \
    PUT(subgroupExclusiveMin(x)); PUT(subgroupExclusiveMax(x)); PUT(subgroupClusteredAdd(x, 4u)); PUT(subgroupClusteredMin(x, 8u)); \
    PUT(subgroupShuffle(x, 15u - lane)); PUT(subgroupShuffleXor(x, 5u)); PUT(lane < 13u ? subgroupShuffleDown(x, 3u) : x); \
    PUT(subgroupBroadcast(x, 3u)); PUT(subgroupBroadcastFirst(y)); PUT(subgroupQuadSwapDiagonal(x)); \
    PUT(subgroupQuadBroadcast(x, 1u)); \
    put(uvec2(subgroupAllEqual(x), subgroupAllEqual(T(7)))); \
    if (lane % 3u == 1u) PUT(subgroupMax(x)); else PUT(subgroupAdd(x));
#define INTEGERS(T) { T x = T(pack64(data[lane])), y = T(pack64(data[16u + lane])); SHARED(T, INTEGER, x, y) \
    INTEGER(subgroupAnd(x)); INTEGER(subgroupOr(x)); INTEGER(subgroupXor(x)); INTEGER(subgroupInclusiveXor(x)); \
    INTEGER(subgroupExclusiveAnd(x)); INTEGER(subgroupClusteredOr(x, 2u)); }
#define FLOATS(T) { T x = T(uint64BitsToDouble(pack64(data[lane]))), y = T(uint64BitsToDouble(pack64(data[16u + lane]))); \
    SHARED(T, FLOAT, x, y) }
void main() [[subgroup_uniform_control_flow]] {
    switch (KIND) {
    case 0u: INTEGERS(int8_t) break;
    case 1u: INTEGERS(uint8_t) break;
    case 2u: INTEGERS(int16_t) break;
    case 3u: INTEGERS(uint16_t) break;
    case 4u: INTEGERS(int64_t) break;
    case 5u: INTEGERS(uint64_t) break;
    case 6u: INTEGERS(int) break;
    case 7u: INTEGERS(uint) break;
    case 8u: FLOATS(float16_t) break;
    case 9u: FLOATS(float) break;
    case 10u: FLOATS(double) break;
    }
    // Vectors, and booleans.
    bvec2 odd = bvec2(lane & 1u, lane & 2u);
    u8vec3 bytes = subgroupMax(u8vec3(lane, 300u - lane, 7u));
    bvec2 reduced = subgroupXor(bvec2(lane > 12u, odd.y));
    put(uvec2(bytes.x | uint(bytes.y) << 8 | uint(bytes.z) << 16, uint(reduced.x) | uint(reduced.y) << 1));
    put(uvec2(subgroupInclusiveOr(odd.y), subgroupClusteredAnd(odd.x, 1u)));
}
