#version 460
// Environment: vulkan1.1
// Which lanes are together inside of divergent control flow and behind it.
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_EXT_subgroup_uniform_control_flow : require
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { uint data[]; };
uint lane = gl_LocalInvocationIndex;
uint at = lane * 11u;
void put(uint value) { words[at++] = value; }
uint together() { return subgroupBallot(true).x; }
uint find(uint value) {
    for (uint bit = 0u; bit < 8u; bit++) {
        if ((value & 1u << bit) != 0u) return bit;
        if (bit == 2u && lane == 3u) return 77u;
    }
    return 99u;
}
void main() [[subgroup_uniform_control_flow]] {
    uint x = data[lane];
    if (x % 3u == 0u) put(together()); else put(together());
    put(together());
    uint sum = 0u;
    for (uint turn = 0u; turn < x % 7u; turn++) sum += bitCount(together());
    put(sum);
    put(together());
    sum = 0u;
    for (uint turn = 0u; turn < 4u; turn++) {
        if ((x >> turn & 1u) != 0u) continue;
        sum += bitCount(together()) << turn * 8u;
    }
    put(sum);
    put(together());
    sum = 0u;
    switch (x % 4u) {
    case 0u: sum = 1u; break;
    case 1u: sum = 2u;
    case 2u: sum += 4u; break;
    default: if (lane > 7u) break; sum = 9u;
    }
    put(sum);
    put(together());
    put(find(x));
    put(together());
    for (;;) {
        if (lane < 4u) break;
        if (x % 2u == 0u) { if (lane > 10u) break; sum++; }
        if (sum > 100u) continue;
        break;
    }
    put(together());
}
