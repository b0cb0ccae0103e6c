#version 450
// Geometric functions: length, distance, normalize, cross, dot, reflect, refract, faceforward, mix, unpacking.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { uint data[]; };
uint lane = gl_LocalInvocationIndex;
void put(uint at, vec3 v) { words[at] = floatBitsToUint(v.x); words[at + 1u] = floatBitsToUint(v.y); words[at + 2u] = floatBitsToUint(v.z); }
void main() {
    vec3 a = vec3(1.0, float(lane), -2.0), b = vec3(0.5, 2.0, float(lane) * 0.25);
    vec3 n = normalize(b);
    uint at = lane * 15u;
    put(at, vec3(length(a), distance(a, b), dot(a, b)));
    put(at + 3u, cross(a, b));
    put(at + 6u, reflect(a, n));
    put(at + 9u, refract(normalize(a), n, 0.75));
    put(at + 12u, faceforward(n, a, b) + mix(a, b, 0.25) + vec3(unpackUnorm4x8(0x80ff0040u).xyw));
}
