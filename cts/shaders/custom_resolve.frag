#version 450
// Resolves four samples of a colour to their maximum, minimum and doubled sum.
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInputMS source;
layout(location = 0) out vec4 color;

void main() {
    float low = 1.0, high = 0.0, sum = 0.0;
    for (int i = 0; i < 4; i++) {
        float value = subpassLoad(source, i).r;
        low = min(low, value);
        high = max(high, value);
        sum += value;
    }
    color = vec4(high, low, 2.0 * sum, 1.0);
}
