#version 450
// Arrays: constant tables, dynamic indices into locals, arrays of arrays, whole copies, private and shared memory.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { uint data[]; };
uint lane = gl_LocalInvocationIndex;
const uint TABLE[20] = uint[20](3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3,2,3,8,4);
const uvec2 PAIRS[3] = uvec2[3](uvec2(1, 2), uvec2(3, 4), uvec2(5, 6));
uint memory[4] = uint[4](10u, 20u, 30u, 40u);
shared uint exchange[2][16];
void main() {
    uint grid[3][4];
    for (uint i = 0u; i < 3u; i++) for (uint j = 0u; j < 4u; j++) grid[i][j] = i * 10u + j;
    grid[lane % 3u][lane % 4u] += 100u;
    uint copy[3][4] = grid;
    grid[0][0] = 7777u;
    uint sum = 0u;
    for (uint i = 0u; i < 3u; i++) for (uint j = 0u; j < 4u; j++) sum += copy[i][j];
    memory[lane & 3u] += lane;
    exchange[lane & 1u][lane] = lane * 3u;
    barrier();
    uint at = lane * 5u;
    words[at] = TABLE[lane] + TABLE[(lane * 7u) % 20u];
    words[at + 1u] = PAIRS[lane % 3u].y + PAIRS[lane % 3u][lane & 1u];
    words[at + 2u] = sum;
    words[at + 3u] = memory[0] + memory[1] + memory[2] + memory[3];
    words[at + 4u] = exchange[1u - (lane & 1u)][lane ^ 1u];
}
