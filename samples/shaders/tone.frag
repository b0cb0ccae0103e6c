#version 450
#extension GL_GOOGLE_include_directive : require
// Brings a high-dynamic-range picture to the screen's range.
#include "common.glsl"
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform sampler2D source;

void main() {
    color = vec4(film(texture(source, uv).rgb), 1.0);
}
