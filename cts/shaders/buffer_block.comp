#version 450
// Loads from a storage buffer in the form of SPIR-V 1.0, by indices of 32 bits.
layout(local_size_x = 16) in;

layout(set = 0, binding = 0) readonly buffer Values {
    uvec4 values[];
};
layout(set = 0, binding = 1) buffer Result {
    uint result[];
};
layout(push_constant) uniform Push {
    uint first;
};

void main() {
    uint lane = gl_LocalInvocationIndex;
    result[lane] = values[first + lane].x;
}
