#version 450
// Counts its runs and drops every other pixel; depth and stencil tests come last.
layout(set = 0, binding = 0, std430) buffer Words { uint words[]; };
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;
void main() {
    atomicAdd(words[0], 1u);
    ivec2 at = ivec2(gl_FragCoord.xy);
    if ((at.x + at.y) % 2 == 1) discard;
    result = color;
}
