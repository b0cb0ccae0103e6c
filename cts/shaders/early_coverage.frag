#version 450
// Says which samples of a pixel its fragment covers before its tests, which come before it.
layout(early_fragment_tests) in;
layout(set = 0, binding = 0, std430) buffer Words { uint words[]; };
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;
void main() {
    uvec2 at = uvec2(gl_FragCoord.xy);
    // The two triangles of a rectangle share pixels.
    atomicOr(words[at.y * 16u + at.x], uint(gl_SampleMaskIn[0]) | 1u << 31);
    result = color;
}
