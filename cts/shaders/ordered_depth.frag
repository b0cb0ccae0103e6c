#version 450
// The same of depths.
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput before;
layout(location = 0) flat in uint number;
void main() {
    gl_FragDepth = (subpassLoad(before).x + float(number % 16) / 16.0) * 0.5;
}
