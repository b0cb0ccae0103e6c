#version 450
#extension GL_GOOGLE_include_directive : require
// A particle made from its number: steam (look 0), a tongue of a flame (1) or dust (2).
#include "common.glsl"
#include "frame.glsl"
layout(location = 0) out vec3 world;
layout(location = 1) out vec2 spot;
layout(location = 2) out vec4 tint;

void main() {
    uint id = uint(gl_InstanceIndex) * 8u + uint(abs(push.model[3].x) * 4096.0) * 4096u;
    float a = hash(id), b = hash(id + 1u), c = hash(id + 2u), d = hash(id + 3u);
    float kind = push.look.x, age = fract(a + frame.misc.x * (kind < 0.5 ? 0.15 : 0.05));
    vec3 at;
    float size, power;
    if (kind < 0.5) {
        float wide = 0.012 + 0.16 * age * age;
        float sway = sin(age * 5.0 + push.model[3].x * 9.0) * 0.05 * age;
        at = vec3((b - 0.5) * wide + sway, age * 0.75, (c - 0.5) * wide);
        size = 0.018 + 0.085 * age;
        power = 0.22 * smoothstep(0.0, 0.06, age) * pow(1.0 - age, 1.5);
    } else if (kind < 1.5) {
        float h = a * a;
        at = vec3((b - 0.5) * 0.25 * (1.0 - h), h * 1.1, (c - 0.5) * 0.25 * (1.0 - h));
        size = 0.016 * (1.0 - 0.75 * h);
        power = 0.42 * (1.0 - 0.6 * h);
    } else {
        at = vec3((b - 0.5) * 3.4, (c - 0.5) * 1.7 + 0.05 * sin(frame.misc.x + a * 40.0), (d - 0.5) * 0.5);
        size = 0.0025 + 0.004 * pow(a, 5.0);
        power = 0.35 + 0.5 * pow(c, 4.0);
    }
    spot = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0 - 1.0;
    world = (push.model * vec4(at, 1.0)).xyz;
    vec4 centre = frame.view_proj * vec4(world, 1.0);
    gl_Position = centre + vec4(spot * size / frame.misc.w * vec2(1.0 / frame.misc.y, 1.0), 0.0, 0.0);
    tint = vec4(push.color.rgb, power);
}
