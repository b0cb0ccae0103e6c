#version 450
// Counts its runs.
layout(set = 0, binding = 0, std430) buffer Words { uint words[]; };
void main() {
    atomicAdd(words[0], 1u);
}
