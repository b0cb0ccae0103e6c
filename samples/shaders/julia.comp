#version 450
#extension GL_GOOGLE_include_directive : require
// A Julia set by escape time, with the distance estimate as height for a light, written to a storage image.
#include "common.glsl"
layout(local_size_x_id = 1, local_size_y_id = 2) in;
layout(constant_id = 0) const uint STEPS = 96;
layout(set = 0, binding = 0, rgba8) uniform writeonly image2D result;
layout(push_constant) uniform Push {
    vec2 constant;
    vec2 centre;
    float scale;
    float turn;
} push;

vec3 palette(float t) {
    return 0.5 + 0.5 * cos(6.2831853 * (vec3(0.8, 0.9, 1.0) * t + vec3(0.55, 0.45, 0.32)));
}

void main() {
    ivec2 size = imageSize(result);
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(at, size))) {
        return;
    }
    vec2 p = (vec2(at) + 0.5 - 0.5 * vec2(size)) / float(size.y) * push.scale;
    float s = sin(push.turn), c = cos(push.turn);
    vec2 z = vec2(c * p.x - s * p.y, s * p.x + c * p.y) + push.centre;
    vec2 dz = vec2(1.0, 0.0);
    float trap = 1e9;
    uint i = 0;
    for (; i < STEPS && dot(z, z) < 256.0; i++) {
        dz = 2.0 * vec2(z.x * dz.x - z.y * dz.y, z.x * dz.y + z.y * dz.x);
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + push.constant;
        trap = min(trap, abs(z.x * 0.8 + z.y * 0.6) + 0.15 * dot(z, z));
    }
    vec3 color;
    if (i == STEPS) {
        color = vec3(0.02, 0.03, 0.06) + 0.35 * palette(0.62 + 0.6 * trap) * exp(-4.0 * trap);
    } else {
        float smooth_i = float(i) - log2(log2(dot(z, z)) * 0.5);
        float r = length(z);
        float dist = r * log(r) / max(length(dz), 1e-9) * float(size.y) / push.scale;
        // The potential's gradient is the direction away from the set: light it as a slope.
        vec2 slope = vec2(z.x * dz.x + z.y * dz.y, z.y * dz.x - z.x * dz.y);
        slope = normalize(slope);
        float light = clamp((dot(slope, vec2(0.6, -0.8)) + 1.3) / 2.3, 0.0, 1.0);
        color = palette(0.045 * smooth_i + 0.02) * (0.2 + 0.8 * light) * smoothstep(-3.0, 14.0, smooth_i);
        color *= smoothstep(0.0, 1.6, dist) * 0.75 + 0.25;
        color += vec3(1.0, 0.8, 0.5) * exp(-9.0 * trap) * 0.35;
    }
    vec2 edge = (vec2(at) + 0.5) / vec2(size) - 0.5;
    color *= 1.0 - 0.9 * dot(edge, edge);
    imageStore(result, at, vec4(clamp(color, 0.0, 1.0), 1.0));
}
