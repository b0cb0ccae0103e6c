#version 450
// Functions: out and inout parameters, arrays and structures by value, early returns, calls in expressions, called many times.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { uint data[]; };
uint lane = gl_LocalInvocationIndex;
struct Pair { uint a; uint b[3]; };
uint bump(inout uint x) { x += 2u; return x * 3u; }
void both(uint x, out uint y, out uint z) { y = x + 1u; if (x > 7u) { z = 0u; return; } z = x * x; }
Pair change(Pair p, uint k) { p.b[k % 3u] += p.a; p.a = k; return p; }
uint early(uint x) { for (uint i = 0u; i < 9u; i++) { if (i * i > x) return i; } return 100u; }
void main() {
    uint x = lane, y, z;
    uint r = bump(x) + bump(x);
    both(lane, y, z);
    Pair p = Pair(lane, uint[3](1u, 2u, 3u));
    Pair q = change(change(p, lane), 2u);
    uint e = early(lane) + early(90u);
    uint at = lane * 6u;
    words[at] = r; words[at + 1u] = x; words[at + 2u] = y * 1000u + z;
    words[at + 3u] = q.a * 100u + q.b[0] * 49u + q.b[1] * 7u + q.b[2]; words[at + 4u] = p.a + p.b[0]; words[at + 5u] = e;
}
