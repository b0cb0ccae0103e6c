#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 64) in;
layout(binding = 0) buffer Results { uint results[]; };
void main() {
    uint number = gl_GlobalInvocationID.x;
    uint64_t state = number + 77777777777ul;
    for (int step = 0; step < 32; step++) {
        state = state * 6364136223846793005ul / (state % 1000ul + 3ul) + 1ul;
    }
    results[number] = uint(state >> 32);
}
