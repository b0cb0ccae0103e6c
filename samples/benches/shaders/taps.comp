#version 450
// Fifteen neighbours of a texel, to an image.
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) uniform sampler2D picture;
layout(binding = 1, rgba8) uniform writeonly image2D result;
vec4 at(ivec2 place, ivec2 offset) { return texelFetch(picture, clamp(place + offset, ivec2(0), ivec2(1023)), 0); }
vec4 row(ivec2 place, int y) {
    return at(place, ivec2(-2, y)) + at(place, ivec2(-1, y)) + at(place, ivec2(0, y)) + at(place, ivec2(1, y)) + at(place, ivec2(2, y));
}
void main() {
    ivec2 place = ivec2(gl_GlobalInvocationID.xy);
    imageStore(result, place, (row(place, -1) + row(place, 0) + row(place, 1)) / 15.0);
}
