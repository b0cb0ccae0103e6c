#version 450
// Fills a buffer with a word, a word for each invocation.
layout(local_size_x = 64) in;
layout(constant_id = 0) const int word = 0;
layout(set = 0, binding = 0, std430) buffer A { int a[]; };
void main() { a[gl_GlobalInvocationID.x] = word; }
