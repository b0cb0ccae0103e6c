#version 450
layout(local_size_x = 64) in;
layout(binding = 0) buffer Results { uint results[]; };
void main() {
    uint number = gl_GlobalInvocationID.x, sum = 0u;
    for (uint step = 0u; step < 32u; step++) {
        sum += atomicMax(results[64u + number], step * number);
        sum ^= atomicOr(results[64u + (number ^ step)], step);
    }
    results[64u + number] = sum;
}
