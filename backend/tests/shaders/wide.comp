#version 460
// Environment: vulkan1.1
// 64-bit integers: arithmetic, shifts, comparisons, conversions, memory, locals.
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uvec2 words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { uint64_t data[]; };
layout(constant_id = 7) const uint64_t SPECIAL = 0x100000002ul;
uint lane = gl_LocalInvocationIndex;
uint at = lane * 24u;
void put(uint64_t value) { words[at++] = unpack32(value); }
shared uint64_t pool[16];
const uint64_t TABLE[4] = uint64_t[](1ul << 40, 5ul, 0xffffffffffffffful, 3ul << 33);
// Its low halves are those of the other.
const uint64_t OTHER[4] = uint64_t[](7ul << 32, 0x900000005ul, 0xfffffffful, 2ul << 50);
uint64_t choose(uint64_t key) { return key == 0x300000001ul ? 77ul : key == 1ul ? 88ul : key; }
void main() {
    uint64_t a = data[lane * 2u], b = data[lane * 2u + 1u];
    int64_t sa = int64_t(a), sb = int64_t(b);
    uint shift = uint(b) & 63u;
    put(a + b); put(a - b); put(a * b); put(a / (b | 1ul)); put(a % (b | 1ul));
    put(uint64_t(sa / (sb | 1l))); put(uint64_t(-sa)); put(~a); put(a & b); put(a ^ b);
    put(a << shift); put(a >> shift); put(uint64_t(sa >> shift));
    put((a < b ? 1ul : 0ul) | (sa < sb ? 2ul : 0ul) | (a <= b ? 4ul : 0ul) | (sa >= sb ? 8ul : 0ul) | (a == b ? 16ul : 0ul));
    put(max(a, b) ^ uint64_t(min(sa, sb))); put(uint64_t(abs(sa)) + uint64_t(sign(sb)));
    put(uint64_t(int64_t(int(uint(a)))) ^ uint64_t(uint(b)));
    put(uint64_t(int64_t(int16_t(uint16_t(a)))) + uint64_t(uint8_t(b)));
    put(uint64_t(floatBitsToUint(float(a))) << 32 | uint64_t(floatBitsToUint(float(sb))));
    put(uint64_t(float(a >> 1)) + uint64_t(int64_t(-float(b >> 40))));
    uint64_t locals[3] = uint64_t[](a, b, a + b);
    put((locals[lane % 3u] ^ TABLE[lane % 4u]) + OTHER[lane % 4u]);
    pool[lane] = a;
    barrier();
    put(pool[15u - lane]);
    put(choose(lane < 4u ? 0x300000001ul : lane < 8u ? 1ul : a) + SPECIAL);
    uint64_t sum = 0ul;
    for (uint64_t i = 0xfffffffeul; i < 0xfffffffeul + uint64_t(lane); ++i) sum += i;
    put(sum);
}
