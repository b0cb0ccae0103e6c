#version 450
// Each invocation stores its place in an image of 256x256 texels.
layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0, r32ui) uniform writeonly uimage2D stored;

void main() {
    ivec2 place = ivec2(gl_GlobalInvocationID.xy);
    imageStore(stored, place, uvec4(uint(place.y * 256 + place.x) * 2654435761u));
}
