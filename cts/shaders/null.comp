#version 450
// Everything that can be done with descriptors that are null: each word of the result is to be 0.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) uniform U { uvec4 u; };
layout(set = 0, binding = 1, std430) buffer S { uint s[]; };
layout(set = 0, binding = 2) uniform samplerBuffer texels;
layout(set = 0, binding = 3, r32ui) uniform uimageBuffer words;
layout(set = 0, binding = 4) uniform sampler2D plane;
layout(set = 0, binding = 5, r32ui) uniform uimage2D stored;
layout(set = 0, binding = 6) uniform texture2DArray apart;
layout(set = 0, binding = 7) uniform sampler filtered;
layout(set = 0, binding = 8, std430) buffer O { uint o[16]; };
uint any_of(vec4 value) { return any(notEqual(value, vec4(0.0))) ? 1u : 0u; }
void main() {
    s[0] = 7u;
    atomicAdd(s[1], 3u);
    imageStore(words, 0, uvec4(7u));
    imageStore(stored, ivec2(0), uvec4(7u));
    imageAtomicAdd(stored, ivec2(1), 1u);
    memoryBarrier();
    o[0] = u.x | u.y | u.z | u.w;
    o[1] = s[0] | s[1];
    o[2] = uint(s.length());
    o[3] = uint(textureSize(texels));
    o[4] = uint(imageSize(words));
    o[5] = uint(textureSize(plane, 0).x | textureSize(plane, 0).y);
    o[6] = uint(imageSize(stored).x | imageSize(stored).y);
    o[7] = any_of(texelFetch(texels, 0));
    o[8] = imageLoad(words, 0).x;
    o[9] = any_of(textureLod(plane, vec2(0.5), 0.0)) | any_of(texelFetch(plane, ivec2(0), 0));
    o[10] = imageLoad(stored, ivec2(0)).x;
    o[11] = any_of(textureLod(sampler2DArray(apart, filtered), vec3(0.5), 0.0)) | any_of(textureGather(plane, vec2(0.5)));
    o[12] = uint(textureQueryLevels(plane));
    o[13] = uint(textureSize(sampler2DArray(apart, filtered), 0).z);
    o[14] = 0u;
    o[15] = 0u;
}
