#version 460
// Environment: vulkan1.1
// 8- and 16-bit integers and halves: arithmetic that wraps and rounds, conversions, bit casts, and memory of every kind.
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { uint data[]; };
layout(set = 0, binding = 2, std430) buffer Bytes { uint8_t bytes[]; };
layout(set = 0, binding = 3, std430) buffer Shorts { int16_t shorts[]; };
struct Mixed { float16_t h; uint8_t b; u16vec3 v; f16mat2x3 m; };
layout(set = 0, binding = 4, std430) buffer Mixeds { Mixed mixed[]; };
layout(push_constant) uniform Push { uint16_t first; uint8_t second; float16_t third; };
shared uint16_t pool[16];
uint lane = gl_LocalInvocationIndex;
uint at = lane * 20u;
void put(uint value) { words[at++] = value; }
void main() {
    uint a = data[lane * 2u], b = data[lane * 2u + 1u];
    uint8_t ua = uint8_t(a), ub = uint8_t(b);
    int8_t sa = int8_t(ua), sb = int8_t(ub);
    uint16_t va = uint16_t(a), vb = uint16_t(b);
    int16_t wa = int16_t(va), wb = int16_t(vb);
    put(uint(ua + ub) | uint(ua - ub) << 8 | uint(ua * ub) << 16 | uint(ua / (ub | uint8_t(1))) << 24);
    put(uint(int(sa / (sb | int8_t(1)))) ^ uint(int(sa >> 2)) << 8);
    put(uint(va + vb) | uint(va * vb) << 16);
    put(uint(int(wa / (wb | int16_t(1)))));
    put((ua < ub ? 1u : 0u) | (sa < sb ? 2u : 0u) | (va >= vb ? 4u : 0u) | (wa > wb ? 8u : 0u));
    put(uint(int(min(sa, sb))) ^ uint(int(max(wa, wb))) ^ uint(int(abs(wa))) ^ uint(clamp(ua, uint8_t(9), uint8_t(200))));
    put(floatBitsToUint(float(wa)) ^ floatBitsToUint(float(ub)));
    put(uint(uint8_t(float(a & 255u))) | uint(uint16_t(float(b & 65535u))) << 8);
    put(uint(~ua) | uint(-va) << 8);
    float16_t ha = float16_t(float(wa) * 0.01), hb = float16_t(float(wb) * 0.37);
    put(packFloat2x16(f16vec2(ha + hb, ha * hb)));
    put(packFloat2x16(f16vec2(ha / hb, sqrt(abs(ha)))));
    put(packFloat2x16(f16vec2(dot(f16vec2(ha, hb), f16vec2(float16_t(1), float16_t(2))), max(ha, hb))));
    put((ha < hb ? 1u : 0u) | uint(int(ha)) << 8);
    put(pack32(u8vec4(ua, ub, uint8_t(7), uint8_t(sa))) ^ pack32(i16vec2(wa, wb)));
    put(uint(float16BitsToUint16(ha)) | uint(uint16BitsToHalf(uint16_t(va & uint16_t(0x7bff))) > float16_t(1) ? 1 : 0) << 16);
    put(uint(bytes[lane]) | uint(bytes[lane * 3u + 1u]) << 8 | uint(first) << 16);
    put(uint(int(shorts[lane])) ^ uint(second) << 24 ^ floatBitsToUint(float(third)));
    pool[lane] = uint16_t(va * vb);
    barrier();
    put(uint(pool[15u - lane]));
    Mixed m = mixed[lane];
    put(floatBitsToUint(float(m.h)) ^ uint(m.b) ^ uint(m.v.z) << 16);
    put(floatBitsToUint(float(m.m[1][2])));
    bytes[lane] = ub;
    shorts[lane] = wa;
    mixed[lane].v.y = va;
    mixed[lane].h = float16_t(2) * m.h;
}
