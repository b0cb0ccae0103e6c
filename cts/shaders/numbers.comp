#version 450
// Numbers of 16 and 64 bits, one piece chosen by a specialization constant, of 64 words.
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float64 : require
layout(local_size_x = 64) in;
layout(constant_id = 0) const int PART = 0;
layout(set = 0, binding = 0, std430) buffer A { uint a[64]; };
layout(set = 0, binding = 1, std430) buffer B { uint b[64]; };
uint fold(uint64_t value) { return uint(value) ^ uint(value >> 32); }
uint fold(double value) { uvec2 words = unpackDouble2x32(value); return words.x ^ words.y; }
void main() {
    uint lane = gl_LocalInvocationIndex, x = a[lane], result = 0u;
    uint64_t wide = uint64_t(x) * 0x9e3779b97f4a7c15ul + uint64_t(lane);
    int16_t s = int16_t(x);
    uint16_t u = uint16_t(x >> 3);
    precise double d = double(x) * 0.125lf + 1.0lf;
    switch (PART) {
    case 0: result = fold(wide * wide + 5ul); break;
    case 1: result = fold(wide / uint64_t((x & 255u) + 3u)) + fold(wide % 1000003ul); break;
    case 2: result = fold(uint64_t(int64_t(wide) / -7l)) ^ fold(uint64_t(int64_t(wide) >> (x & 63u))) ^ fold(wide << (x & 63u)); break;
    case 3: result = (int64_t(wide) < 0l ? 1u : 0u) | (wide > 0xffffffff00000000ul >> 1 ? 2u : 0u) | uint(int64_t(int(x)) == int64_t(s) ? 4 : 0); break;
    case 4: result = uint(int(s * int16_t(3) - int16_t(lane))) ^ uint(u * u) << 3; break;
    case 5: result = uint(int(s >> 2)) + uint(u / uint16_t(7)) + uint(int(s / int16_t(-5))) + uint(int(int16_t(u))); break;
    case 6: { precise double y = d * d - 0.75lf; result = fold(y) ^ fold(d / 3.0lf); break; }
    case 7: result = fold(sqrt(d)) ^ fold(floor(d)) ^ fold(fract(d)) ^ uint(d < 100.0lf ? 1 : 0); break;
    case 8: result = fold(double(float(d))) ^ uint(d) ^ fold(double(int64_t(wide))); break;
    }
    b[lane] = result;
}
