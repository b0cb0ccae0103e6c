#version 450
// Never ends, and every turn of its loop passes a barrier.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Words { uint words[]; };
shared uint word;
void main() {
    do {
        if (gl_LocalInvocationIndex == 0) word = words[0];
        barrier();
    } while (word == 0u);
}
