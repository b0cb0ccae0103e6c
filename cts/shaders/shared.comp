#version 450
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint base; };
layout(set = 0, binding = 0, std430) buffer A { uint a[]; };
layout(set = 0, binding = 1, std430) buffer B { uint b[]; };
shared uint sums[64];
void main() {
    uint lane = gl_LocalInvocationIndex;
    sums[lane] = a[lane] + base;
    for (uint step = 1u; step < 64u; step *= 2u) {
        barrier();
        uint other = lane >= step ? sums[lane - step] : 0u;
        barrier();
        sums[lane] += other;
    }
    b[gl_WorkGroupID.x * 64u + lane] = sums[lane] + gl_WorkGroupID.x;
}
