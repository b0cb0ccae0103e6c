#version 450
// Loops: while with several exits, do-while with continue, a loop in a loop's condition, endless with break, phis of short circuits.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { uint data[]; };
uint lane = gl_LocalInvocationIndex;
bool odd(uint n) { uint k = n; while (k > 1u) k -= 2u; return k == 1u; }
void main() {
    uint a = 0u, n = lane;
    while (odd(n) || n > 8u) { if (n == 13u) break; n = n > 8u ? n - 3u : n + 1u; a++; }
    uint b = 0u, i = 0u;
    do { i++; if (i % 3u == 0u) continue; b += i; } while (i < lane);
    uint c = 0u;
    for (;;) { c += 3u; if (c > lane) { if (c > 12u) { c = 99u; break; } else break; } }
    uint d = (lane > 3u && data[lane] > 4u || lane == 1u) ? 1u : 0u;
    uint x = 1u, y = 0u;
    for (uint k = 0u; k < lane; k++) { uint t = x; x = x + y; y = t; }
    uint at = lane * 5u;
    words[at] = a; words[at + 1u] = b; words[at + 2u] = c; words[at + 3u] = d; words[at + 4u] = y;
}
