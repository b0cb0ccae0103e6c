#version 450
// Environment: vulkan1.3
// Values of many words: blocks, constants, results and variables that are copied as a whole.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
layout(set = 0, binding = 1, std430) buffer In { uvec4 head; uint many[5100]; };
layout(set = 0, binding = 2, std140) uniform Block { uvec4 colours[5000]; } block;
uint lane = gl_LocalInvocationIndex;

struct Item { uint tag; vec2 at; };
struct Whole { Item items[2500]; mat3 turn; uint last; };

const uint row[16] = uint[](0u, 1u, 4u, 9u, 16u, 25u, 36u, 49u, 64u, 81u, 100u, 121u, 144u, 169u, 196u, 225u);
const uint rows[16][16] = { row, row, row, row, row, row, row, row, row, row, row, row, row, row, row, row };
const uint table[20][16][16] = { rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows,
    rows, rows, rows, rows, rows };

uint[5000] made(uint seed) {
    uint all[5000];
    for (uint i = 0u; i < 5000u; i++) all[i] = i * seed + 1u;
    return all;
}

uint pick(uint all[5000], uint at) { return all[at]; }

Whole filled(uint seed) {
    Whole whole;
    for (uint i = 0u; i < 2500u; i++) { whole.items[i].tag = i + seed; whole.items[i].at = vec2(float(i), float(seed)); }
    whole.turn = mat3(float(seed));
    whole.last = seed * 7u;
    return whole;
}

void main() {
    uint at = lane * 9u;
    uint all[5100] = many;
    many[lane] = 5u;
    words[at] = all[lane] + many[lane] * 1000u;
    uvec4 colours[5000] = block.colours;
    words[at + 1u] = colours[lane].y + colours[4999].x;
    uint one[5000] = made(lane), other[5000] = made(lane + 1u);
    words[at + 2u] = pick(one, 4999u) + pick(other, lane);
    uint chosen[5000] = one;
    if (lane < 5u) chosen = other;
    words[at + 3u] = chosen[3];
    for (uint i = 0u; i < lane; i++) {
        uint kept[5000] = one;
        one = other;
        other = kept;
    }
    words[at + 4u] = one[2] + other[2] * 1000u;
    uint changed[20][16][16] = table;
    changed[lane][3][lane] += 1000u;
    words[at + 5u] = changed[lane][3][lane] + table[19][lane][lane];
    Whole first = filled(lane), second = first;
    second.items[lane].tag = 77u;
    second.turn[1][1] = 9.0;
    words[at + 6u] = first.items[lane].tag + second.items[lane].tag * 100u;
    words[at + 7u] = uint(second.turn[1][1] + first.turn[1][1] * 100.0) + second.last * 10000u;
    words[at + 8u] = uint(second.items[2499].at.x + second.items[2499].at.y);
}
