#version 450
// Every lane goes its own way: the length of a Collatz sequence.
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
