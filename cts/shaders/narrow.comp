#version 450
// Numbers of 8 and 16 bits in memory, and arithmetic on them: one piece chosen by a specialization constant.
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
layout(local_size_x = 64) in;
layout(constant_id = 0) const int PART = 0;
layout(set = 0, binding = 0, std430) buffer A8 { uint8_t a8[]; };
layout(set = 0, binding = 0, std430) buffer A16 { int16_t a16[]; };
layout(set = 0, binding = 0, std430) buffer AH { float16_t ah[]; };
layout(set = 0, binding = 0, std430) buffer AV { u8vec4 av[]; };
layout(set = 0, binding = 1, std430) buffer B8 { uint8_t b8[]; };
layout(set = 0, binding = 1, std430) buffer B16 { int16_t b16[]; };
layout(set = 0, binding = 1, std430) buffer BH { float16_t bh[]; };
layout(set = 0, binding = 1, std430) buffer B { uint b[]; };
layout(set = 0, binding = 2) uniform U { uint8_t u8; uint16_t u16; float16_t uh; uint8_t last; };
layout(push_constant) uniform P { int8_t p8; int16_t p16; float16_t ph; u8vec2 pv; };
void main() {
    uint lane = gl_LocalInvocationIndex;
    switch (PART) {
    case 0: b8[lane] = a8[lane] * uint8_t(3) + uint8_t(1); break;
    case 1: b16[lane] = a16[63u - lane] / int16_t(3) - int16_t(lane); break;
    case 2: { precise float16_t product = ah[lane] * float16_t(1.5), sum = product + float16_t(0.25); bh[lane] = sum; break; }
    case 3: b[lane] = uint(u8) + uint(u16) * 256u + uint(last) * 16777216u + uint(uh); break;
    case 4: b[lane] = uint(int(p8) + int(p16) * 2 + int(ph) * 4 + int(pv.y) * 8); break;
    case 5: b[lane] = uint(av[lane].w) | uint(int8_t(a8[lane])) << 8 & 0xff00u | uint(a8[lane] < a8[63u - lane]) << 16; break;
    case 6: b[lane] = uint(floatBitsToUint(float(sqrt(abs(ah[lane]))))); break;
    }
}
