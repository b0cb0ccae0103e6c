#version 450
// 256 bytes of push constants.
layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint pushed[64]; };
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
void main() { words[gl_LocalInvocationIndex] = pushed[gl_LocalInvocationIndex]; }
