#version 450
// Samples of a storage image: stored, read by another invocation, counted on.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, r32ui) coherent uniform uimage2DMS image;
layout(set = 0, binding = 1) buffer Words { uint words[64]; };
void main() {
    uint own = gl_LocalInvocationIndex, other = 63 - own;
    ivec2 place = ivec2(own % 8, own / 8);
    int count = imageSamples(image);
    for (int i = 0; i < count; i++) imageStore(image, place, i, uvec4(own * 16 + i));
    memoryBarrier();
    barrier();
    uint sum = 0;
    for (int i = 0; i < count; i++) sum = sum * 3 + imageLoad(image, ivec2(other % 8, other / 8), i).x;
    memoryBarrier();
    barrier();
    uint before = imageAtomicAdd(image, place, count - 1, 5);
    words[own] = sum + before * 1000 + imageLoad(image, place, count - 1).x * 7 + imageSize(image).x;
}
