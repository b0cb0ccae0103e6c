#version 450
// Walks a list of nodes by their addresses, and writes to where the last one says.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 16) in;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint words[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Node { uvec2 next; Words target; uint value; float pad; uint array[4]; };
layout(push_constant) uniform Push { Node first; uint steps; };
void main() {
    uint lane = gl_LocalInvocationIndex;
    Node node = first;
    uint sum = 0u;
    for (uint step = 0u; step < steps; ++step) {
        sum = sum * 3u + node.value + node.array[lane % 4u];
        if (node.next == uvec2(0)) break;
        node = Node(node.next);
    }
    node.target.words[lane] = sum;
    atomicAdd(node.target.words[16], 1u);
}
