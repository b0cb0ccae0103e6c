#version 450
// Doubles as words: signed and unsigned.
layout(local_size_x = 16) in;
layout(binding = 0) readonly buffer Numbers { double numbers[]; };
layout(binding = 1) writeonly buffer Words { uvec2 words[]; };

void main() {
    uint lane = gl_LocalInvocationIndex;
    double number = numbers[lane];
    words[lane] = uvec2(uint(int(number)), uint(number));
}
