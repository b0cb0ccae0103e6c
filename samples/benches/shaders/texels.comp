#version 450
layout(local_size_x = 64) in;
layout(binding = 0) buffer Results { uint results[]; };
layout(binding = 1, r32ui) uniform uimage2D image;
void main() {
    uint number = gl_GlobalInvocationID.x, sum = 0u;
    ivec2 place = ivec2(number % 512u, number / 512u);
    for (uint step = 0u; step < 32u; step++) {
        sum += imageAtomicAdd(image, place, step);
        sum ^= imageAtomicMax(image, ivec2(place.x ^ int(step), place.y), sum);
    }
    results[number] = sum;
}
