#version 450
// Red is 0 where the colour's red is under a half, else 1.
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;
void main() { result = vec4(step(0.5, color.r), 0.0, 0.0, 1.0); }
