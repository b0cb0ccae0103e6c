#version 450
// Length of a runtime array, structures in a storage buffer, writes through nested chains.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { uint data[]; };
uint lane = gl_LocalInvocationIndex;
struct Node { vec3 at; uint kind; uint tail[2]; };
layout(set = 0, binding = 2, std430) buffer Nodes { uint header; Node nodes[]; };
void main() {
    words[0] = uint(words.length()); words[1] = uint(nodes.length());
    nodes[lane].kind = lane * 2u; nodes[lane].at.y = float(lane); nodes[lane].tail[lane & 1u] = 9u;
    Node n = nodes[lane]; n.tail[0] += 1u; nodes[lane] = n;
    if (lane == 0u) header = 123u;
}
