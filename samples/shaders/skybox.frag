#version 450
#extension GL_GOOGLE_include_directive : require
// The sky behind everything, from the cube map.
#include "common.glsl"
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform samplerCube sky;
layout(push_constant) uniform Push {
    vec4 right;
    vec4 down;
    vec4 forward;
} push;

void main() {
    vec2 p = uv * 2.0 - 1.0;
    color = vec4(film(textureLod(sky, push.forward.xyz + p.x * push.right.xyz + p.y * push.down.xyz, 0.0).rgb), 1.0);
}
