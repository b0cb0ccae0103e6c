#version 450
// 512 dynamic uniform buffers and 512 dynamic storage buffers: each lane reads one of both kinds.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) uniform Small { uint value; } small[512];
layout(set = 0, binding = 1, std430) readonly buffer Large { uint value; } large[512];
layout(set = 0, binding = 2, std430) buffer Out { uint words[512]; } o;
void main() {
    for (uint i = 0; i < 8; i++) {
        uint sum = 0;
        for (uint of = 0; of < 64; of++) {
            uint number = i * 64 + of;
            uint value = small[number].value * 1000 + large[number].value;
            if (of == gl_LocalInvocationIndex) { sum = value; }
        }
        o.words[i * 64 + gl_LocalInvocationIndex] = sum;
    }
}
