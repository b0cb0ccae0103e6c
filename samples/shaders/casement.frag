#version 450
#extension GL_GOOGLE_include_directive : require
// The window and the wall around it, on the plane behind the shelves.
#include "common.glsl"
#include "frame.glsl"
#include "room.glsl"
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;

void main() {
    vec2 p = uv * 2.0 - 1.0;
    vec3 d = normalize(push.model[2].xyz + p.x * push.model[0].xyz + p.y * push.model[1].xyz);
    float t = (-0.42 - frame.eye.z) / d.z;
    color = vec4(film(window(frame.eye.xy + d.xy * t) * 0.8), 1.0);
}
