#version 450
// What the draw's set and its push constants hold.
layout(set = 0, binding = 0) readonly buffer Block { uint word; };
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) out vec4 result;
void main() { result = vec4(float(word) / 255.0, color.yzw); }
