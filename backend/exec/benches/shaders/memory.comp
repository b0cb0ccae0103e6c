#version 450
// Runs a consecutive load, a scattered load and a uniform load in a loop.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Data { float words[1024]; };
void main() {
    uint lane = gl_LocalInvocationIndex;
    float sum = 0.0;
    for (uint turn = 0u; turn < 32u; turn++) {
        sum += words[turn * 16u + lane];
        sum += words[(turn * 97u + lane * 61u) & 1023u];
        sum *= words[turn];
    }
    words[lane] = sum;
}
