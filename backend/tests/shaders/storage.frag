#version 450
// Storage images of every dimensionality, their atomics and queries; input attachments; early tests.
layout(early_fragment_tests) in;
layout(set = 0, binding = 0, rgba8) uniform image1D i1;
layout(set = 0, binding = 1, rgba32f) uniform image2D i2;
layout(set = 0, binding = 2, rgba16f) uniform image3D i3;
layout(set = 0, binding = 3, rgba8) uniform imageCube ic;
layout(set = 0, binding = 4, r32i) uniform iimage2DArray i2a[2];
layout(set = 0, binding = 5, r32ui) uniform uimageBuffer ib;
layout(set = 0, binding = 6, rgba8) writeonly uniform image2D blind;
layout(set = 0, binding = 7, r32ui) uniform uimage1DArray i1a;
layout(set = 0, binding = 8, rgba8) uniform imageCubeArray ica;
layout(set = 0, binding = 9) writeonly uniform image2D formatless;
layout(input_attachment_index = 0, set = 1, binding = 0) uniform subpassInput before;
layout(input_attachment_index = 1, set = 1, binding = 1) uniform usubpassInputMS beforeMs;
layout(push_constant) uniform Push { int which; };
layout(location = 0) out vec4 color;
layout(location = 1) out uvec2 counts;
void main() {
    ivec3 p = ivec3(gl_FragCoord.xyz);
    vec4 c = imageLoad(i1, p.x) + imageLoad(i2, p.xy) + imageLoad(i3, p) + imageLoad(ic, p) + imageLoad(ica, p);
    imageStore(i1, p.x, c); imageStore(i3, p, c); imageStore(ic, p, c); imageStore(blind, p.xy, c); imageStore(formatless, p.xy, c);
    int a = imageAtomicAdd(i2a[which], p, 1) + imageAtomicMin(i2a[0], p, 3) + imageAtomicExchange(i2a[1], p, 9) + imageAtomicCompSwap(i2a[1], p, 9, 8);
    uint b = imageAtomicOr(ib, p.x, 1u) + imageAtomicXor(ib, p.x, 2u) + imageAtomicAnd(i1a, p.xy, 4u) + imageAtomicMax(i1a, p.xy, 4u);
    c += subpassLoad(before) + vec4(subpassLoad(beforeMs, which));
    counts = uvec2(a, b) + uvec2(imageSize(i2a[0]).xz) + uvec2(imageSize(ib), imageSize(ica).z + imageSize(i3).z + imageSize(i1));
    color = c;
}
