#version 450
// Drops every other pixel, whose depth is written all the same: tests come first.
layout(early_fragment_tests) in;
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    if ((at.x + at.y) % 2 == 1) discard;
    result = color;
}
