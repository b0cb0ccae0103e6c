#version 450
#extension GL_GOOGLE_include_directive : require
// A particle of a spiral galaxy, made from its number alone: no vertex buffer.
#include "common.glsl"
#include "frame.glsl"
layout(location = 0) out vec2 spot;
layout(location = 1) out vec3 glow;

void main() {
    uint id = uint(gl_InstanceIndex) * 8u;
    float a = hash(id), b = hash(id + 1u), c = hash(id + 2u), d = hash(id + 3u), e = hash(id + 4u);
    bool cloud = hash(id + 5u) < 0.035;
    bool core = hash(id + 6u) < 0.22;
    float radius = core ? 0.75 * b * b : 0.25 + 2.9 * pow(b, 0.75);
    // Two arms: the angle winds with the logarithm of the radius, scattered more further out.
    float scatter = (c + d + e - 1.5) * (0.35 + 0.16 * radius);
    float arm = a < 0.5 ? 0.0 : 3.14159265;
    float angle = core ? 6.2831853 * a : arm + 2.3 * log(radius + 0.18) + scatter;
    angle += frame.misc.x * 0.22 / (0.5 + radius);
    float thick = core ? 0.32 * (0.9 - radius) : 0.05;
    vec3 at = vec3(cos(angle) * radius, (d + e - 1.0) * thick, sin(angle) * radius);
    vec3 young = mix(vec3(0.25, 0.45, 1.0), vec3(0.95, 0.30, 0.62), step(0.86, c));
    vec3 tint = mix(vec3(1.0, 0.72, 0.38), young, smoothstep(0.15, 1.2, radius));
    float size = cloud ? 0.16 + 0.10 * e : 0.010 + 0.020 * pow(e, 6.0);
    float power = cloud ? 0.035 : 0.26 + 0.6 * pow(e, 6.0);
    spot = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0 - 1.0;
    vec4 centre = frame.view_proj * (push.model * vec4(at, 1.0));
    gl_Position = centre + vec4(spot * size / frame.misc.w * vec2(1.0 / frame.misc.y, 1.0), 0.0, 0.0);
    glow = tint * power;
}
