#version 450
// Shared memory that begins with zeros in every workgroup, also after others have used it.
#extension GL_EXT_null_initializer : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer A { uint a[]; };
struct Part { uint number; float real; bvec2 flags; };
shared uint words[256] = {};
shared Part parts[8] = {};
void main() {
    uint lane = gl_LocalInvocationIndex;
    uint sum = 0u;
    for (uint at = lane; at < 256u; at += 64u) sum |= words[at];
    Part part = parts[lane % 8u];
    sum |= part.number | floatBitsToUint(part.real) | (any(part.flags) ? 1u : 0u);
    barrier();
    for (uint at = lane; at < 256u; at += 64u) words[at] = lane + 1u;
    parts[lane % 8u] = Part(7u, 1.5, bvec2(true));
    barrier();
    a[gl_GlobalInvocationID.x] = sum + words[lane];
}
