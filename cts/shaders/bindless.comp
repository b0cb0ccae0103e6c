#version 450
// Arrays without a length of buffers, texel buffers and images, indexed by lanes in different ways.
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[64]; } o;
layout(set = 0, binding = 1, std430) readonly buffer Part { uint value; uint more[]; } parts[];
layout(set = 0, binding = 2) uniform Small { uvec4 value; } small[3];
layout(set = 0, binding = 3, r32ui) uniform readonly uimageBuffer texels[2];
layout(set = 0, binding = 4) uniform usampler2D images[];
void main() {
    uint lane = gl_LocalInvocationIndex;
    // Element 2 was never written: nothing may name it.
    uint which = lane % 5u == 2u ? 0u : lane % 5u;
    uint sum = parts[nonuniformEXT(which)].value + uint(parts[nonuniformEXT(which)].more.length());
    sum += small[nonuniformEXT(lane % 3u)].value.y * 1000u;
    sum += imageLoad(texels[nonuniformEXT(lane / 7u % 2u)], int(lane % 4u)).x * 100000u;
    sum += texelFetch(images[nonuniformEXT(lane % 3u)], ivec2(0), 0).x * 10000000u;
    o.words[lane] = sum;
}
