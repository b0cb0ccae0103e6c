#version 450
// Ends, but not soon: some tenths of a second a fragment.
layout(set = 0, binding = 0, std430) buffer Words { uint words[]; };
void main() {
    uint state = uint(gl_FragCoord.x) + words[0];
    for (uint turn = 0u; turn < 100000000u; turn++) state = state * 1664525u + 1013904223u;
    words[1] = state;
}
