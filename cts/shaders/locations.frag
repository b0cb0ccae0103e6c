#version 450
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;
void main() { result = vec4(gl_SamplePosition, interpolateAtSample(color, 1).xy); }
