#version 450
// What the fragments before this one left in its pixel, in an order that shows.
layout(input_attachment_index = 0, set = 0, binding = 0) uniform usubpassInput before;
layout(location = 0) flat in uint number;
layout(location = 0) out uint result;
void main() {
    result = subpassLoad(before).x * 3 + number + 1;
}
