#version 450
// A view of some slices of a volume: its size, what it shows, and what lies behind its end.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, r32ui) uniform uimage3D volume;
layout(set = 0, binding = 1) buffer Words { uint words[]; };

void main() {
    ivec3 size = imageSize(volume);
    words[0] = size.x;
    words[1] = size.y;
    words[2] = size.z;
    for (int z = 0; z < 3; z++) {
        words[3 + z] = imageLoad(volume, ivec3(1, 2, z)).x;
    }
    words[6] = imageAtomicAdd(volume, ivec3(2, 2, 1), 5);
    imageStore(volume, ivec3(3, 1, 0), uvec4(777));
    imageStore(volume, ivec3(0, 0, 2), uvec4(555));
}
