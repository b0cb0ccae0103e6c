#version 450
// Floats: rounding, classification, modf and frexp, packing, conversions.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { uint data[]; };
uint lane = gl_LocalInvocationIndex;
void main() {
    float x = uintBitsToFloat(data[lane]);
    float whole; float fraction = modf(x, whole);
    int exponent; float mantissa = frexp(x, exponent);
    uint at = lane * 16u;
    words[at] = floatBitsToUint(floor(x)); words[at + 1u] = floatBitsToUint(ceil(x));
    words[at + 2u] = floatBitsToUint(trunc(x)); words[at + 3u] = floatBitsToUint(roundEven(x));
    words[at + 4u] = floatBitsToUint(fract(x)); words[at + 5u] = floatBitsToUint(fraction); words[at + 6u] = floatBitsToUint(whole);
    words[at + 7u] = floatBitsToUint(mantissa); words[at + 8u] = uint(exponent);
    words[at + 9u] = floatBitsToUint(ldexp(mantissa, exponent));
    words[at + 10u] = packHalf2x16(vec2(x, 0.5)); words[at + 11u] = packSnorm4x8(vec4(x, -x, x * 0.1, 1.0));
    words[at + 12u] = packUnorm2x16(vec2(x * 0.01, 0.25));
    words[at + 13u] = floatBitsToUint(mod(x, 3.0)); words[at + 14u] = uint(int(x));
    words[at + 15u] = floatBitsToUint(clamp(x, -1.5, 2.5) + step(1.0, x) * 10.0 + sign(x) * 100.0 + smoothstep(0.0, 4.0, x));
}
