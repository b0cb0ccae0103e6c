#version 450
// One operation, chosen by a specialization constant, of operands from the host: nothing is known when it is compiled.
#extension GL_EXT_spirv_intrinsics : require
spirv_instruction(id = 138) int remainder(int a, int b);
layout(local_size_x = 64) in;
layout(constant_id = 0) const int FUNCTION = 0;
layout(set = 0, binding = 0, std430) buffer A { uvec4 operands[]; };
layout(set = 0, binding = 1, std430) buffer B { uint results[]; };
float float_of(float x, float y, float z) {
    switch (FUNCTION) {
    case 0: return min(x, y);
    case 1: return max(x, y);
    case 2: return clamp(x, y, z);
    case 3: return smoothstep(x, y, z);
    case 4: return min(x, 1.0);
    case 5: return max(x, 0.0);
    case 6: return max(0.0, x);
    case 7: return clamp(x, 0.0, 1.0);
    case 8: return step(x, y);
    case 9: return pow(x, 0.0);
    case 10: return pow(x, 2.0);
    case 11: return pow(x, 3.0);
    case 12: return pow(x, y);
    case 13: return atan(x, y);
    case 14: return sign(x);
    case 15: return max(sqrt(x), 0.0);
    case 16: return max(dot(normalize(vec3(x)), vec3(1.0)), 0.0);
    case 17: return mod(x, y);
    }
    return 0.0;
}
uint word_of(uint a, uint b, uint c) {
    float x = uintBitsToFloat(a);
    switch (FUNCTION) {
    case 32: return a << b;
    case 33: return uint(int(a) >> b);
    case 34: return a >> b;
    case 35: return uint(bitfieldExtract(int(a), int(b), int(c)));
    case 36: return bitfieldExtract(a, int(b), int(c));
    case 37: return packSnorm4x8(vec4(x));
    case 38: return packUnorm2x16(vec2(x));
    case 39: return uint(int(x));
    case 40: return uint(x);
    case 41: return uint(int(a) / int(b));
    case 42: return a / b;
    case 43: return uint(abs(int(a)));
    case 44: return uint(findMSB(int(a)));
    case 45: return packHalf2x16(vec2(x));
    case 46: return a % b;
    case 47: return uint(int(a) % int(b));
    case 48: return uint(remainder(int(a), int(b)));
    }
    return floatBitsToUint(float_of(x, uintBitsToFloat(b), uintBitsToFloat(c)));
}
void main() {
    uvec4 of = operands[gl_LocalInvocationIndex];
    results[gl_LocalInvocationIndex] = word_of(of.x, of.y, of.z);
}
