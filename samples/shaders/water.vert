#version 450
#extension GL_GOOGLE_include_directive : require
// The water: a rectangle at height 0.
#include "frame.glsl"
layout(location = 0) out vec3 world;

void main() {
    world = vec3((gl_VertexIndex & 1) * 60.0 - 30.0, 0.0, (gl_VertexIndex >> 1) * -60.0 + 3.0);
    gl_Position = frame.view_proj * vec4(world, 1.0);
}
