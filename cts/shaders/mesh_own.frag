#version 450
#extension GL_EXT_mesh_shader : require
// Environment: vulkan1.2
layout(location = 0) perprimitiveEXT in vec4 own;
layout(location = 1) flat in vec2 provoking;
layout(location = 0) out vec4 result;
void main() { result = vec4(own.xy, provoking.x, float(gl_PrimitiveID) / 255.0); }
