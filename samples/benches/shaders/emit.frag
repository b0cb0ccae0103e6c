#version 450
layout(location = 0) in vec4 color;
layout(location = 1) in vec3 normal;
layout(location = 0) out vec4 result;
void main() { result = vec4(color.rgb * (0.5 + 0.5 * normal.x), 1.0); }
