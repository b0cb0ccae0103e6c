#version 450
// Arrays of buffers with a dynamic index, arrays of arrays of them.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { uint data[]; };
uint lane = gl_LocalInvocationIndex;
layout(set = 0, binding = 2, std430) buffer Many { uint value; } many[2][3];
void main() { words[lane] = many[lane % 2u][lane % 3u].value; }
