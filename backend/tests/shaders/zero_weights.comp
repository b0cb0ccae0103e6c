#version 450
// What is multiplied by 0, and what 0 is added to: of numbers, unless sums and products are precise.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { float data[]; };
uint lane = gl_LocalInvocationIndex;
void main() {
    float a = data[lane], b = data[lane + 16u];
    uint at = lane * 5u;
    words[at] = floatBitsToUint(a * 0.0 + b);
    words[at + 1u] = floatBitsToUint(b - 0.0 * a);
    words[at + 2u] = floatBitsToUint((vec2(a, b) * 0.0).x);
    words[at + 3u] = floatBitsToUint(0.0 + b);
    precise float exact = a * 0.0;
    words[at + 4u] = floatBitsToUint(exact);
}
