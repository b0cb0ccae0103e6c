#version 450
// Samples the layer of an array that a push constant names.
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) out vec4 result;
layout(set = 0, binding = 0) uniform sampler2DArray image;
void main() { result = texture(image, vec3(0.5, 0.5, extra.y)); }
