#version 450
// What the subpass before left in this pixel, halved, plus the place.
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput before;
layout(location = 0) out vec4 result;
void main() {
    result = subpassLoad(before) * 0.5 + vec4(0.0, 0.0, floor(gl_FragCoord.x) / 255.0, 0.0);
}
