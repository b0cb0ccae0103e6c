#version 450
layout(input_attachment_index = 0, binding = 0) uniform subpassInput source;
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;
void main() { result = subpassLoad(source) + color; }
