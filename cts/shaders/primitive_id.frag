#version 450
layout(location = 0) out vec4 result;
void main() { result = vec4(float(gl_PrimitiveID), 0.0, 0.0, 255.0) / 255.0; }
