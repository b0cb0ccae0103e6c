#version 450
// Reads and writes images of one layer as arrays, and arrays of one layer as images.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0) uniform sampler2DArray as_array;
layout(set = 0, binding = 1) uniform sampler2D as_image;
layout(set = 0, binding = 2, r32ui) uniform uimage2DArray stored_array;
layout(set = 0, binding = 3, r32ui) uniform uimage2D stored_image;
layout(set = 0, binding = 4) buffer Result { uint words[]; };

void main() {
    uint lane = gl_LocalInvocationIndex;
    ivec2 at = ivec2(lane % 4, lane / 4);
    vec2 middle = (vec2(at) + 0.5) / 4.0;
    words[lane] = uint(texelFetch(as_array, ivec3(at, 0), 0).r);
    words[16 + lane] = uint(texelFetch(as_image, at, 0).r);
    words[32 + lane] = uint(textureLod(as_array, vec3(middle, 0.0), 0.0).r);
    words[48 + lane] = uint(textureLod(as_image, middle, 0.0).r);
    words[64 + lane] = imageLoad(stored_array, ivec3(at, 0)).r;
    words[80 + lane] = imageLoad(stored_image, at).r;
    words[96 + lane] = uint(textureSize(as_array, 0).z + 10 * textureSize(as_image, 0).y);
    memoryBarrierImage();
    imageStore(stored_array, ivec3(at, 0), uvec4(7 * lane));
    imageStore(stored_image, at, uvec4(9 * lane));
    memoryBarrierImage();
    words[112 + lane] = imageLoad(stored_array, ivec3(at, 0)).r + 1000 * imageLoad(stored_image, at).r;
}
