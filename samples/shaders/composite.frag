#version 450
#extension GL_GOOGLE_include_directive : require
// Adds three widths of bloom, maps to displayable light, darkens the corners.
#include "common.glsl"
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform sampler2D picture;
layout(set = 0, binding = 1) uniform sampler2D half_bloom;
layout(set = 0, binding = 2) uniform sampler2D quarter_bloom;
layout(set = 0, binding = 3) uniform sampler2D eighth_bloom;

void main() {
    vec2 off = uv - 0.5;
    // A little lateral colour, as lenses have.
    vec2 shift = off * dot(off, off) * 0.012;
    vec3 light = vec3(texture(picture, uv + shift).r, texture(picture, uv).g, texture(picture, uv - shift).b);
    light += texture(half_bloom, uv).rgb * 0.55 + texture(quarter_bloom, uv).rgb * 0.6 + texture(eighth_bloom, uv).rgb * 0.7;
    light *= 1.0 - 0.75 * dot(off, off);
    color = vec4(film(light), 1.0);
}
