#version 450
// One piece of the language, chosen by a specialization constant, of 64 words.
layout(local_size_x = 64) in;
layout(constant_id = 0) const int PART = 0;
struct Inner { vec3 v; float s; };
layout(set = 0, binding = 0, std430) buffer A { uint a[64]; };
layout(set = 0, binding = 1, std430) buffer B { uint b[64]; };

uint collatz(uint n) {
    uint steps = 0u;
    while (n != 1u && steps < 200u) { n = (n & 1u) == 0u ? n / 2u : 3u * n + 1u; steps++; }
    return steps;
}
uint primes(uint limit) {
    uint found = 0u;
    for (uint n = 2u; n < limit; n++) {
        bool prime = true;
        for (uint d = 2u; d * d <= n; d++) if (n % d == 0u) { prime = false; break; }
        if (!prime) continue;
        found++;
    }
    return found;
}
uint fall(uint x) {
    uint r = 0u;
    switch (x % 5u) {
    case 0u: r += 1u;
    case 1u: r += 10u; break;
    case 2u: return 7u;
    case 3u: for (int i = 0; i < 3; i++) { if (i == 2) break; r += 100u; } break;
    default: r = 5u;
    }
    return r;
}
void split(uint x, out uint low, inout uint high) { low = x & 0xffffu; high += x >> 16; }
uint early(uint x) { for (uint i = 0u; i < 10u; i++) if (x % (i + 2u) == 0u) return i; return 99u; }

uint part(uint x) {
    int s = int(x);
    uint h, l;
    switch (PART) {
    case 0: return collatz(x % 97u + 1u);
    case 1: return primes(x % 60u);
    case 2: return fall(x);
    case 3: l = 3u; h = 4u; split(x, l, h); return l * 3u + h;
    case 4: return early(x);
    case 5: { uint i = 0u; do { i += 3u; } while (i < x % 20u); return i; }
    case 6: { uint t[8]; for (uint i = 0u; i < 8u; i++) t[i] = i * x; return t[x & 7u] + t[(x >> 3) & 7u]; }
    case 7: return uint(s / 7);
    case 8: return uint(s >> 3);
    case 9: return x << (x & 31u);
    case 10: return bitfieldExtract(x, 5, 11);
    case 11: return uint(bitfieldExtract(s, 20, 12));
    case 12: return bitfieldInsert(x, 0xabcu, 7, 9);
    case 13: return bitfieldReverse(x);
    case 14: return uint(findLSB(x));
    case 15: umulExtended(x, 0x9e3779b9u, h, l); return h ^ l;
    case 16: { int p, q; imulExtended(s, -12345, p, q); return uint(p ^ q); }
    case 17: return uaddCarry(x, 0x80000000u, l) + l;
    case 18: return usubBorrow(x, 0x80000000u, l) + l;
    case 19: return uint(abs(s)) + uint(sign(s));
    case 20: return min(x, 1000u) + uint(max(s, -5)) + uint(clamp(s, -100, 100));
    case 21: return x % 13u + x / 13u;
    case 22: return packUnorm4x8(vec4(x & 255u, (x >> 8) & 255u, (x >> 16) & 255u, x >> 24) / 255.0);
    case 23: { vec4 v = unpackUnorm4x8(x); return uint(round(v.x * 255.0)) * 3u + uint(round(v.w * 255.0)); }
    case 24: { uvec4 v = uvec4(x, x + 1u, x + 2u, x + 3u); v.zx = v.wy; return v.x * 2u + v.z * 5u + v.y; }
    case 25: { mat3 m = mat3(1, 2, 3, 4, 5, 6, 7, 8, 9); vec3 v = m * vec3(x & 15u, 1, 2); return uint(v.x + 100.0 * v.y + 10000.0 * v.z); }
    case 26: { mat2x3 m = mat2x3(1, 2, 3, 4, 5, 6); mat3x2 t = transpose(m); mat2 p = t * m; return uint(p[0][0] + p[0][1] * 100.0 + p[1][1] * 10000.0) + (x & 1u); }
    case 27: { mat2 m = inverse(mat2(2, 0, 0, 4)); return uint(m[0][0] * 8.0 + m[1][1] * 800.0) + (x & 3u); }
    case 28: { Inner n[3]; for (int i = 0; i < 3; i++) { n[i].v = vec3(i); n[i].s = float(i * 2); } n[x % 3u].v.y = 9.0; return uint(n[0].v.y + n[1].v.y * 16.0 + n[2].v.y * 256.0 + n[x % 3u].s * 4096.0); }
    case 29: { bvec4 v = equal(uvec4(x) & uvec4(1, 2, 4, 8), uvec4(0)); return uint(any(v)) + 2u * uint(all(v)) + 4u * uint(all(not(v))); }
    case 30: return uint(int(float(s / 1000) * 0.5)); // Not %: undefined for negative operands.
    case 31: return floatBitsToUint(uintBitsToFloat((x & 0x7fffffu) | 0x3f800000u) * 2.0);
    case 32: { vec3 v = cross(vec3(1, 0, 0), vec3(0, float(x & 7u), 0)); return uint(v.z) + 10u * uint(v.x + v.y); }
    case 33: { float f = float(x & 1023u) / 64.0; int e; float m = frexp(f + 1.0, e); return uint(e) + uint(m * 4096.0) * 16u; }
    case 34: { float w; float f = modf(float(x & 1023u) / 64.0, w); return uint(w) + uint(f * 64.0) * 1024u; }
    case 35: return gl_LocalInvocationIndex + 64u * gl_NumWorkGroups.x + 1000u * gl_WorkGroupSize.x;
    case 36: { uint sum = 0u; for (uint i = 0u; i < 4u; i++) for (uint j = 0u; j < 4u; j++) { if (j == x % 4u) continue; if (i == x % 3u + 1u) break; sum += i * 4u + j; } return sum; }
    case 37: return (x & 1u) != 0u && (x / (x & 1u)) > 5u || x == 0u ? 1u : 2u;
    }
    return 0u;
}
void main() { uint lane = gl_GlobalInvocationID.x; b[lane] = part(a[lane]); }
