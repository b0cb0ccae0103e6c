#version 450
// Operations on floats of three widths. The case replaces the execution mode by one for each width, which the
// extension of GLSL cannot express.
#extension GL_EXT_spirv_intrinsics : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4464, 4465], 4460, 32);
layout(local_size_x = 16) in;
struct Numbers { uint single, half_code, low, high; };
struct Results { uint single[4], halves[4], doubles[8], conversions[4]; };
layout(set = 0, binding = 0, std430) buffer Source { Numbers numbers[]; };
layout(set = 0, binding = 1, std430) buffer Target { Results results[]; };

void store_double(uint at, double number) {
    uvec2 words = unpackUint2x32(doubleBitsToUint64(number));
    results[gl_LocalInvocationIndex].doubles[2 * at] = words.x;
    results[gl_LocalInvocationIndex].doubles[2 * at + 1] = words.y;
}

void main() {
    uint at = gl_LocalInvocationIndex;
    Numbers n = numbers[at];
    float x = uintBitsToFloat(n.single);
    float16_t h = uint16BitsToHalf(uint16_t(n.half_code));
    double d = uint64BitsToDouble(packUint2x32(uvec2(n.low, n.high)));
    bool copies = at < 8;
    // Half of the number, its negative, a copy, and true if it equals zero.
    precise float x2 = x * 0.5;
    precise float16_t h2 = h * float16_t(0.5);
    precise double d2 = d * 0.5LF;
    results[at].single = uint[4](floatBitsToUint(x2), floatBitsToUint(-x), floatBitsToUint(copies ? x : 1.0), uint(x == 0.0));
    results[at].halves = uint[4](halfBitsToUint16(h2), halfBitsToUint16(-h), halfBitsToUint16(copies ? h : float16_t(1.0)),
        uint(h == float16_t(0.0)));
    store_double(0, d2);
    store_double(1, -d);
    store_double(2, copies ? d : 1.0LF);
    store_double(3, d == 0.0LF ? 1.0LF : 0.0LF);
    // A function, the square root, and conversions to and from a half.
    results[at].conversions = uint[4](floatBitsToUint(max(x, -1.0)), floatBitsToUint(sqrt(abs(x))), floatBitsToUint(float(h)),
        halfBitsToUint16(float16_t(x)));
}
