#version 450
#extension GL_GOOGLE_include_directive : require
// Position only, as seen from the light.
#include "frame.glsl"
layout(location = 0) in vec3 position;

void main() {
    gl_Position = frame.light * (push.model * vec4(position, 1.0));
}
