#version 450
#extension GL_EXT_spirv_intrinsics : require
// The same where NaN, infinity and the sign of zeros are preserved (SignedZeroInfNanPreserve).
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4466], 4461, 32);
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { float data[]; };
uint lane = gl_LocalInvocationIndex;
void main() {
    float a = data[lane];
    words[lane * 2u] = floatBitsToUint(a * 0.0);
    words[lane * 2u + 1u] = floatBitsToUint(a + 0.0);
}
