#version 450
// Counts its runs; depth and stencil tests come first.
layout(early_fragment_tests) in;
layout(set = 0, binding = 0, std430) buffer Words { uint words[]; };
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;
void main() {
    atomicAdd(words[0], 1u);
    result = color;
}
