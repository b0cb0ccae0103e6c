#version 450
// Resolves four samples of a depth to half of their sum.
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInputMS source;

void main() {
    float sum = 0.0;
    for (int i = 0; i < 4; i++) {
        sum += subpassLoad(source, i).r;
    }
    gl_FragDepth = 0.5 * sum - 0.5;
}
