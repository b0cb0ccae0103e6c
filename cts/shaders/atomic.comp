#version 450
layout(local_size_x = 64) in;
layout(constant_id = 0) const int FUNCTION = 0;
layout(set = 0, binding = 0, std430) buffer A { uint a[]; };
layout(set = 0, binding = 1, std430) buffer B { uint b[]; };
void main() {
    uint lane = gl_GlobalInvocationID.x;
    switch (FUNCTION) {
    case 0: b[lane] = atomicAdd(a[0], lane); break;
    case 1: b[lane] = atomicMin(a[0], lane + 5u); break;
    case 2: b[lane] = atomicMax(a[0], lane); break;
    case 3: b[lane] = atomicAnd(a[0], ~(1u << (lane % 32u))); break;
    case 4: b[lane] = atomicOr(a[0], 1u << (lane % 32u)); break;
    case 5: b[lane] = atomicXor(a[0], lane); break;
    case 6: b[lane] = atomicExchange(a[0], lane); break;
    case 7: b[lane] = atomicCompSwap(a[lane % 4u], 0u, lane + 1u); break;
    }
}
