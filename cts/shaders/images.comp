#version 450
// One way to read or write an image, chosen by a specialization constant, for each of 64 lanes.
layout(local_size_x = 64) in;
layout(constant_id = 0) const int PART = 0;
layout(set = 0, binding = 0) uniform sampler1D line;
layout(set = 0, binding = 1) uniform sampler1DArray lines;
layout(set = 0, binding = 2) uniform sampler2D plane;
layout(set = 0, binding = 3) uniform sampler2DArray planes;
layout(set = 0, binding = 4) uniform sampler3D volume;
layout(set = 0, binding = 5) uniform samplerCube cube;
layout(set = 0, binding = 6, r32ui) uniform coherent uimage2D stored;
layout(set = 0, binding = 7) uniform samplerBuffer texels;
layout(set = 0, binding = 8, r32ui) uniform coherent uimageBuffer words;
layout(set = 0, binding = 9, std430) buffer B { uint b[64]; };

vec3 direction(int face, float s, float t) {
    switch (face) {
    case 0: return vec3(1, -t, -s);
    case 1: return vec3(-1, -t, s);
    case 2: return vec3(s, 1, t);
    case 3: return vec3(s, -1, -t);
    case 4: return vec3(s, -t, 1);
    default: return vec3(-s, -t, -1);
    }
}
void wait() { memoryBarrierImage(); barrier(); }

void main() {
    int l = int(gl_LocalInvocationIndex);
    ivec2 p = ivec2(l % 8, l / 8);
    vec2 uv = (vec2(p) + 0.5) / 8.0;
    float v = 0.0;
    uint r = 0u;
    switch (PART) {
    case 0: v = texelFetch(line, p.x, 0).x; break;
    case 1: v = texelFetch(lines, ivec2(p.x, p.y % 3), 0).x; break;
    case 2: v = texelFetch(plane, p, 0).x; break;
    case 3: v = texelFetch(planes, ivec3(p.x, p.y % 4, l % 3), 0).x; break;
    case 4: v = texelFetch(volume, ivec3(l % 4, l / 4 % 4, l / 16), 0).x; break;
    case 5: v = textureLod(cube, direction(l % 6, (float(l % 4) + 0.5) / 2.0 - 1.0, (float(l / 4 % 4) + 0.5) / 2.0 - 1.0) * 3.0, 0.0).x; break;
    case 6: { ivec3 s = textureSize(planes, 0); v = float(s.x + s.y * 100 + s.z * 10000); } break;
    case 7: { ivec3 s = textureSize(volume, 0); v = float(s.x + s.y * 100 + s.z * 10000 + textureSize(cube, 0).y * 100000); } break;
    case 8: v = textureLod(plane, uv, 0.0).x; break;
    case 9: v = textureLodOffset(plane, uv, 0.0, ivec2(1, -2)).x; break;
    case 10: { vec4 g = textureGather(plane, vec2(l % 7 + 1, l / 7 % 7 + 1) / 8.0); v = g.w + 2.0 * g.x + 4.0 * g.y + 8.0 * g.z; } break;
    case 11: v = float(textureQueryLevels(plane) + 10 * textureQueryLevels(cube)); break;
    case 12: imageStore(stored, p, uvec4(l * 5)); wait(); r = imageLoad(stored, ivec2(7 - p.x, 7 - p.y)).x; break;
    case 13: imageAtomicAdd(stored, ivec2(0), 1u); wait(); r = imageLoad(stored, ivec2(0)).x; break;
    case 14: imageAtomicMax(stored, ivec2(p.x, 0), uint(l)); wait(); r = imageLoad(stored, ivec2(p.x, 0)).x; break;
    case 15: v = texelFetch(texels, l).x; break;
    case 16: v = float(textureSize(texels) + 1000 * imageSize(words)); break;
    case 17: imageStore(words, l, uvec4(l * 7)); wait(); r = imageLoad(words, 63 - l).x; break;
    case 18: imageStore(stored, ivec2(100 + l, -1 - l), uvec4(9)); wait(); r = imageLoad(stored, p).x; break;
    case 19: { ivec2 s = imageSize(stored); v = float(s.x + 100 * s.y); } break;
    case 20: v = textureProjLod(plane, vec3(uv * 2.0, 2.0), 0.0).x; break;
    case 21: v = textureLod(planes, vec3(uv.x, 0.125, float(l) * 0.3), 0.0).x; break;
    case 22: v = textureGrad(plane, uv, vec2(0.01, 0.0), vec2(0.0, 0.01)).x; break;
    case 23: v = textureLod(volume, (vec3(l % 4, l / 4 % 4, l / 16) + 0.5) / 4.0, 0.0).x; break;
    case 24: v = texelFetchOffset(plane, ivec2(p.x % 4, p.y % 4), 0, ivec2(3, 2)).x; break;
    case 25: imageAtomicExchange(stored, p, uint(l)); wait(); r = imageAtomicCompSwap(stored, p, uint(l), 500u) + imageLoad(stored, p).x; break;
    case 26: imageAtomicAdd(words, l % 4, uint(l)); wait(); r = imageLoad(words, l % 4).x; break;
    case 27: v = textureLod(lines, vec2(uv.x, float(p.y % 3)), 0.0).x; break;
    }
    b[l] = r + uint(v);
}
