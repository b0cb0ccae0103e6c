#version 450
// Never ends: its loop depends on memory that nobody changes.
layout(set = 0, binding = 0, std430) buffer Words { uint words[]; };
void main() {
    while (words[0] == 0u) words[1]++;
}
