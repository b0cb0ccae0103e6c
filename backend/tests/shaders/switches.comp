#version 450
// Switches: fall through in a loop, continue from a case, default in the middle, nested switches, return from a case.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { uint data[]; };
uint lane = gl_LocalInvocationIndex;
int inner(int a, int b) {
    switch (a) {
    case 0: switch (b) { case 0: return 5; case 1: break; default: return 6; }
    case 1: return 7;
    default: a += 10;
    case 3: a += 100; break;
    case 4: a += 1000;
    }
    return a;
}
void main() {
    int total = 0;
    for (int i = 0; i < int(lane); ++i) {
        switch (i & 3) {
        case 0: total += 1; continue;
        case 1: total += 10;
        case 2: total += 100; break;
        case 3: if (i > 9) break; total += 1000;
        }
        total += 7;
        if (total > 5000) return;
    }
    words[lane * 2u] = uint(total);
    words[lane * 2u + 1u] = uint(inner(int(lane) % 6, int(lane) / 6));
}
