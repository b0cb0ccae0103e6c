#version 450
layout(local_size_x = 64) in;
layout(binding = 0) buffer Results { uint results[]; };
void main() {
    uint number = gl_GlobalInvocationID.x, sum = 0u;
    for (uint step = 0u; step < 64u; step++) {
        if (((number * 0x9e3779b9u >> 8) + step) % 4u == 0u) sum += atomicAdd(results[64u + number], step);
    }
    results[64u + number] = sum;
}
