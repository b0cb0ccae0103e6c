#version 450
// Writes the blocks of a compressed image, each a colour of its own: BC1's two end points, and all texels the first of them.
layout(local_size_x = 4, local_size_y = 4) in;
layout(set = 0, binding = 0, rg32ui) uniform writeonly uimage2D blocks;
void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    uint red = uint(at.x * 8), green = uint(at.y * 16);
    imageStore(blocks, at, uvec4(red << 11 | green << 5, 0u, 0u, 0u));
}
