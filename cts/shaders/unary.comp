#version 450
// One function, chosen by a specialization constant, of 64 inputs.
layout(local_size_x = 64) in;
layout(constant_id = 0) const int FUNCTION = 0;
layout(set = 0, binding = 0, std430) buffer A { float a[64]; };
layout(set = 0, binding = 1, std430) buffer B { float b[64]; };
float apply(float x) {
    switch (FUNCTION) {
    case 0: return sin(x);
    case 1: return cos(x);
    case 2: return tan(x * 0.4);
    case 3: return asin(x / 4.0);
    case 4: return acos(x / 4.0);
    case 5: return atan(x);
    case 6: return exp(x);
    case 7: return log(abs(x) + 0.5);
    case 8: return exp2(x);
    case 9: return log2(abs(x) + 0.5);
    case 10: return sqrt(abs(x));
    case 11: return inversesqrt(abs(x) + 0.5);
    case 12: return floor(x);
    case 13: return ceil(x);
    case 14: return trunc(x);
    case 15: return fract(x);
    case 16: return sign(x);
    case 17: return abs(x);
    case 18: return sinh(x);
    case 19: return cosh(x);
    case 20: return tanh(x);
    case 21: return pow(abs(x) + 0.25, 1.5);
    case 22: return smoothstep(-2.0, 2.0, x);
    case 23: return mix(1.0, 3.0, x);
    case 24: return clamp(x, -1.0, 1.0);
    case 25: return mod(x, 0.75);
    case 26: return roundEven(x);
    case 27: return step(0.5, x);
    case 28: return length(vec3(x, 2.0, 3.0));
    case 29: return dot(vec2(x, 2.0), vec2(3.0, 4.0));
    case 30: return radians(x);
    case 31: return determinant(mat2(x, 2.0, 3.0, 4.0));
    case 32: return ldexp(x, 3);
    case 33: return unpackHalf2x16(packHalf2x16(vec2(x, 0.0))).x;
    case 34: return float(bitCount(floatBitsToUint(x)));
    case 35: return float(findMSB(int(x * 100.0)));
    case 36: return atan(x, 2.0);
    case 37: return asinh(x);
    }
    return 0.0;
}
void main() { b[gl_GlobalInvocationID.x] = apply(a[gl_GlobalInvocationID.x]); }
