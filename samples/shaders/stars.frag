#version 450
#extension GL_GOOGLE_include_directive : require
// A night sky: hashed stars in two sizes over a faint nebula.
#include "common.glsl"
#include "frame.glsl"
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;

vec3 stars(vec2 p, float cells, uint seed) {
    vec2 cell = floor(p * cells);
    uint id = uint(int(cell.x) + 4096) * 8192u + uint(int(cell.y) + 4096) + seed * 977u;
    vec2 at = (cell + 0.2 + 0.6 * vec2(hash(id), hash(id + 7919u))) / cells;
    float d = length(p - at) * cells * 13.0;
    float power = pow(hash(id + 104729u), 20.0) * 2.6;
    vec3 tint = mix(vec3(1.0, 0.75, 0.55), vec3(0.65, 0.8, 1.0), hash(id + 1299709u));
    return tint * power * exp(-d * d);
}

void main() {
    vec2 p = (uv - 0.5) * vec2(frame.misc.y, 1.0);
    float haze = noise(vec3(p * 2.2, 1.0)) * 0.6 + noise(vec3(p * 5.5, 4.0)) * 0.4;
    float off = p.y + 0.55 * p.x - 0.05;
    float lane = exp(-8.0 * off * off);
    vec3 sky = vec3(0.004, 0.006, 0.012) + lane * haze * haze * mix(vec3(0.05, 0.03, 0.08), vec3(0.02, 0.06, 0.10), uv.x);
    color = vec4(sky + stars(p, 26.0, 1u) + stars(p + 3.0, 60.0, 2u) * 0.7, 1.0);
}
