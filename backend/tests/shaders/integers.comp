#version 450
// Integers: division, remainders, shifts, bit fields, counts, extended arithmetic, signed and unsigned comparisons.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { uint data[]; };
uint lane = gl_LocalInvocationIndex;
void main() {
    int a = int(data[lane * 2u]), b = int(data[lane * 2u + 1u]);
    uint ua = uint(a), ub = uint(b);
    uint carry, borrow, high, low; int shigh, slow;
    uint sum = uaddCarry(ua, ub, carry), difference = usubBorrow(ua, ub, borrow);
    umulExtended(ua, ub, high, low); imulExtended(a, b, shigh, slow);
    uint at = lane * 16u;
    words[at] = uint(a / b); words[at + 1u] = ua / ub; words[at + 2u] = ua % ub;
    words[at + 3u] = sum ^ carry; words[at + 4u] = difference ^ borrow;
    words[at + 5u] = high ^ low; words[at + 6u] = uint(shigh) ^ uint(slow);
    words[at + 7u] = ua << (ub & 31u) ^ ua >> (ub & 31u) ^ uint(a >> int(ub & 31u));
    words[at + 8u] = uint(bitfieldExtract(a, 5, 9)); words[at + 9u] = bitfieldExtract(ua, 5, 9);
    uvec2 inserted = bitfieldInsert(uvec2(ua, ub), uvec2(ub, ua), 7, 11);
    words[at + 10u] = inserted.x; words[at + 11u] = inserted.y;
    words[at + 12u] = bitfieldReverse(ua) ^ uint(bitCount(a));
    words[at + 13u] = uint(findLSB(a)) + uint(findMSB(a)) * 100u + uint(findMSB(ub)) * 10000u;
    words[at + 14u] = uint(abs(a)) ^ uint(sign(b)) ^ uint(min(a, b)) ^ max(ua, ub) ^ uint(clamp(a, -5, 5));
    words[at + 15u] = (a < b ? 1u : 0u) | (ua < ub ? 2u : 0u) | (a >= b ? 4u : 0u) | (ua >= ub ? 8u : 0u) | (a == b ? 16u : 0u);
}
