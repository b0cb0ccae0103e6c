#version 460
// Environment: vulkan1.2
// Shared blocks with an explicit layout, which alias, and the Vulkan memory model's operands.
#extension GL_EXT_shared_memory_block : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
shared Bytes { uint8_t bytes[64]; };
shared Words { uint values[16]; };
shared Rows { layout(row_major) mat2x3 rows[2]; };
uint lane = gl_LocalInvocationIndex;
void main() {
    values[lane] = lane * 0x01020304u;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    uint low = uint(bytes[lane * 4u]) | uint(bytes[(15u - lane) * 4u + 3u]) << 8;
    barrier();
    bytes[lane] = uint8_t(lane + 200u);
    barrier();
    words[lane * 3u] = low;
    words[lane * 3u + 1u] = values[lane & 3u];
    barrier();
    if (lane == 0u) { rows[1][1][2] = 7.5; rows[1][0][1] = 2.5; }
    barrier();
    words[lane * 3u + 2u] = values[8u + (lane & 7u)];
    atomicStore(values[lane], 1u, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsRelease);
}
