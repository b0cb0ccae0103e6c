// Environment: vulkan1.2
#version 450
#extension GL_EXT_shared_memory_block : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 64) in;
layout(binding = 0) buffer Source { uint words[64]; } source;
layout(binding = 1) buffer Target { uint words[64]; } target;
// The same memory, as words, halves and bytes, and in a scalar layout.
shared Words { uint words[64]; } as_words;
shared Halves { uint16_t halves[128]; } as_halves;
shared Bytes { uint8_t bytes[256]; } as_bytes;
layout(scalar) shared Threes { uint first; u16vec3 threes[20]; uint8_t last; } as_threes;
void main() {
    uint i = gl_LocalInvocationIndex;
    as_words.words[i] = source.words[i];
    barrier();
    uint sum = uint(as_halves.halves[2 * i + 1]) * 3u + uint(as_bytes.bytes[(4 * i + 7) % 256]);
    barrier();
    // Neighbours write parts of one word.
    as_bytes.bytes[4 * i + (i & 3u)] = uint8_t(i);
    if ((i & 1u) == 0u) as_halves.halves[2 * i + 1] = uint16_t(i * 5u);
    barrier();
    uint three = i < 20 ? uint(as_threes.threes[i].z) : 0u;
    uint last = i == 0 ? uint(as_threes.last) : 0u;
    target.words[i] = sum ^ as_words.words[i] ^ (three << 7) ^ (last << 20);
}
