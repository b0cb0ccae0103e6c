#version 450
// Computes the length of a Collatz sequence in each lane, which makes the lanes diverge.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Data { uint words[]; };
void main() {
    uint n = gl_LocalInvocationIndex * 7u + 27u, steps = 0u;
    while (n != 1u && steps < 400u) {
        if ((n & 1u) == 0u) n >>= 1; else n = 3u * n + 1u;
        steps++;
    }
    words[gl_LocalInvocationIndex] = steps;
}
