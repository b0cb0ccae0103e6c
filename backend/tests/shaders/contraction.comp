#version 450
// Sums of products: fused, but for precise ones and differences of two products.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { float data[]; };
uint lane = gl_LocalInvocationIndex;
void main() {
    float a = data[lane], b = data[lane + 16u], c = data[lane + 32u];
    uint at = lane * 8u;
    words[at] = floatBitsToUint(a * b + c);
    words[at + 1u] = floatBitsToUint(c + a * b);
    words[at + 2u] = floatBitsToUint(a * b - c);
    words[at + 3u] = floatBitsToUint(c - a * b);
    words[at + 4u] = floatBitsToUint(a * a - b * b);
    precise float exact = a * b + c;
    words[at + 5u] = floatBitsToUint(exact);
    vec2 scaled = vec2(a, b) * c + vec2(b, a);
    words[at + 6u] = floatBitsToUint(scaled.x);
    words[at + 7u] = floatBitsToUint(scaled.y);
}
