#version 460
// Environment: vulkan1.1
// Memory by address: linked structures, arrays, atomics, and addresses that lead nowhere.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
layout(buffer_reference) buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Node { Node next; uint value; uint16_t small; uint count; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Array { uint items[]; };
layout(push_constant) uniform Push { Node head; Array whole; };
uint lane = gl_LocalInvocationIndex;
void main() {
    Node node = head;
    Array array = whole;
    uint sum = 0u;
    for (uint i = 0u; i < 20u && uint64_t(node) != 0ul; ++i) {
        sum = sum * 3u + node.value + uint(node.small);
        node = node.next;
    }
    words[lane * 4u] = sum;
    words[lane * 4u + 1u] = array.items[lane] + Array(uint64_t(array) + 4ul * uint64_t(lane)).items[1];
    words[lane * 4u + 2u] = atomicAdd(head.count, 1u);
    Node nowhere = Node(0x123456789abcul + uint64_t(lane) * 8ul);
    nowhere.value = 3u;
    words[lane * 4u + 3u] = nowhere.value;
    array.items[lane] = lane * 5u;
    head.small = uint16_t(7);
}
