#version 450
// Atomics on 64 bits, in a buffer and in shared memory, in the Vulkan memory model: invocations hand a value on.
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer A { uint64_t sum; uint64_t largest; uint64_t smallest; uint64_t bits; uint64_t last; } a;
layout(set = 0, binding = 1, std430) workgroupcoherent buffer B { uint b[64]; };
shared uint64_t together;
void main() {
    uint lane = gl_LocalInvocationIndex;
    if (lane == 0u) together = 0ul;
    barrier();
    uint64_t value = (uint64_t(lane) << 40) + 1ul;
    atomicAdd(together, value);
    atomicAdd(a.sum, value, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);
    atomicMax(a.largest, value);
    atomicMin(a.smallest, ~value);
    atomicXor(a.bits, 1ul << lane);
    b[lane] = lane * 3u;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared, gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
    uint other = b[63u - lane];
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared, gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
    b[lane] = other + uint(together >> 40) * 1000u;
    if (lane == 0u) atomicExchange(a.last, together);
}
