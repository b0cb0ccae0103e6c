#version 450
#extension GL_GOOGLE_include_directive : require
// Where a blade of grass grows, and how: made from its number alone.
#include "common.glsl"
#include "frame.glsl"
layout(location = 0) out vec4 root; // and height
layout(location = 1) out vec4 lean; // along x and z, width, hue

void main() {
    uint id = uint(gl_VertexIndex) * 8u;
    float a = hash(id), b = hash(id + 1u), c = hash(id + 2u), d = hash(id + 3u), e = hash(id + 4u);
    // Denser towards the eye, and as wide as the picture is there.
    float depth = 0.7 + 13.0 * b * b;
    vec3 at = vec3((a * 2.0 - 1.0) * (0.9 + depth * 0.82), 0.0, -depth);
    at.y = 0.16 * noise(at * 0.7) - 0.05;
    float gust = noise(vec3(at.x * 0.5 - frame.misc.x * 1.1, frame.misc.x * 0.3, at.z * 0.5));
    float turn = 6.2831853 * c;
    vec2 own = vec2(cos(turn), sin(turn)) * (0.10 + 0.18 * d);
    root = vec4(at, 0.22 + 0.30 * d * e + 0.10 * noise(at * 1.7));
    lean = vec4(own + vec2(0.34, 0.05) * gust * gust * 1.6, 0.006 + 0.007 * e, c);
}
