// Signs of numbers that are none, where the program wants them preserved.
// Environment: vulkan1.2
#version 460
#extension GL_EXT_spirv_intrinsics : require

// SignedZeroInfNanPreserve, for single floats.
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4466], 4461, 32);

layout(local_size_x = 16) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(std430, set = 0, binding = 1) writeonly buffer To { vec4 to[]; };

void main() {
    uint lane = gl_LocalInvocationIndex;
    float x = uintBitsToFloat(from[lane]);
    to[lane] = vec4(sign(x), -x, abs(x), sign(-x));
}
