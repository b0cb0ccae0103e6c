#version 450
// Environment: vulkan1.3
// Images in a compute program: fetch, load, store, atomics, sampling with explicit level, gather, offsets, projection, queries, texel buffers.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { uint data[]; };
uint lane = gl_LocalInvocationIndex;
layout(set = 0, binding = 2) uniform sampler2D picture;
layout(set = 0, binding = 3, r32ui) uniform uimage2D target;
void put(uint at, float f) { words[at] = floatBitsToUint(f); }
void main() {
    ivec2 p = ivec2(lane & 3u, lane >> 2);
    uint at = lane * 8u;
    put(at, texelFetch(picture, p, 0).r);
    put(at + 1u, texelFetchOffset(picture, p, 0, ivec2(-1, 0)).r);
    put(at + 2u, textureLod(picture, (vec2(p) + 0.5) / 4.0, 0.0).r);
    put(at + 3u, textureProjLod(picture, vec3((vec2(p) + 0.5) / 2.0, 2.0), 0.0).r);
    vec4 four = textureGather(picture, (vec2(p) + 1.0) / 4.0, 0);
    put(at + 4u, four.x + four.y * 100.0 + four.z * 10000.0);
    words[at + 5u] = uint(textureSize(picture, 0).x * 10 + textureSize(picture, 0).y) + uint(textureQueryLevels(picture)) * 100u + uint(imageSize(target).x) * 1000u;
    imageStore(target, p, uvec4(lane * 5u));
    words[at + 6u] = imageLoad(target, p).x;
    words[at + 7u] = imageAtomicAdd(target, p, 3u) + imageAtomicCompSwap(target, p, lane * 5u + 3u, 9u) * 1000u;
    words[128u + lane] = imageLoad(target, p).x;
}
