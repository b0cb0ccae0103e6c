#version 450
#extension GL_GOOGLE_include_directive : require
// Where a firefly is, and how brightly it shines.
#include "common.glsl"
#include "frame.glsl"
layout(location = 0) out vec4 place;

void main() {
    uint id = uint(gl_VertexIndex) * 8u + 77777u;
    float a = hash(id), b = hash(id + 1u), c = hash(id + 2u), d = hash(id + 3u), time = frame.misc.x;
    float depth = 1.0 + 6.0 * b;
    vec3 at = vec3((a * 2.0 - 1.0) * depth * 0.8, 0.25 + 0.7 * c * c, -depth);
    at += 0.16 * vec3(sin(time * (0.5 + d) + 9.0 * c), sin(time * (0.4 + a) + 7.0 * d), cos(time * (0.3 + b)));
    float shine = 0.5 + 0.5 * sin(time * (1.5 + 2.0 * d) + 40.0 * a);
    place = vec4(at, shine * shine * shine);
}
