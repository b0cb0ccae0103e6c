#version 450
// Each lane reads another one of a million buffers.
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[64]; } o;
layout(set = 0, binding = 1, std430) readonly buffer Part { uint value; } parts[];
void main() {
    uint lane = gl_LocalInvocationIndex;
    o.words[lane] = parts[nonuniformEXT(lane * 15873u)].value;
}
