#version 450
// Vectors: swizzles read and written, dynamic components, relational functions, constructors, comparisons.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { uint data[]; };
uint lane = gl_LocalInvocationIndex;
void main() {
    vec4 v = vec4(1.0, 2.0, 3.0, 4.0) * float(lane + 1u);
    v.zx = v.xy;
    v[lane & 3u] = 0.5;
    ivec3 i = ivec3(v.wzy);
    bvec3 less = lessThan(i, ivec3(5, int(lane), 7));
    uint bits = (any(less) ? 1u : 0u) | (all(less) ? 2u : 0u) | (not(less).y ? 4u : 0u) | (equal(i, i.xxz).y ? 8u : 0u);
    vec3 mixed = mix(v.xyz, v.wzy, less);
    uint at = lane * 6u;
    for (uint k = 0u; k < 4u; k++) words[at + k] = floatBitsToUint(v[k]);
    words[at + 4u] = bits;
    words[at + 5u] = floatBitsToUint(mixed.x + mixed.y * 100.0 + mixed.z * 10000.0);
}
