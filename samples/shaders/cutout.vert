#version 450
#extension GL_GOOGLE_include_directive : require
// Position and texture coordinate, as seen from the light.
#include "frame.glsl"
layout(location = 0) in vec3 position;
layout(location = 2) in vec2 texture_uv;
layout(location = 0) out vec2 uv;

void main() {
    gl_Position = frame.light * (push.model * vec4(position, 1.0));
    uv = texture_uv;
}
