#version 450
// The depth and the stencil that are in this pixel.
layout(input_attachment_index = 3, set = 0, binding = 0) uniform subpassInput depth;
layout(input_attachment_index = 5, set = 0, binding = 1) uniform usubpassInput stencil;
layout(location = 0) out vec4 result;
void main() {
    result = vec4(subpassLoad(depth).x, float(subpassLoad(stencil).x) / 255.0, 0.0, 1.0);
}
