#version 450
#extension GL_GOOGLE_include_directive : require
// Ambient occlusion from depths around a pixel, then a filmic curve.
#include "common.glsl"
#include "frame.glsl"
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 1) uniform sampler2D picture;
layout(set = 0, binding = 2) uniform sampler2D depths;

// Returns the distance along the view axis of a depth, for near and far planes at 0.1 and 100.
float distance_of(float depth) {
    return 10.0 / (100.0 - depth * 99.9);
}

vec3 position(vec2 at) {
    float z = distance_of(textureLod(depths, at, 0.0).r);
    return vec3((at * 2.0 - 1.0) * vec2(frame.misc.y, 1.0) * frame.misc.w * z, z);
}

void main() {
    vec2 texel = 1.0 / vec2(textureSize(depths, 0));
    vec3 p = position(uv);
    vec3 right = position(uv + vec2(texel.x, 0.0)) - p, left = p - position(uv - vec2(texel.x, 0.0));
    vec3 down = position(uv + vec2(0.0, texel.y)) - p, up = p - position(uv - vec2(0.0, texel.y));
    vec3 across = abs(right.z) < abs(left.z) ? right : left, along = abs(down.z) < abs(up.z) ? down : up;
    vec3 n = normalize(cross(along, across));
    float turn = hash(uint(gl_FragCoord.x) * 1973u + uint(gl_FragCoord.y) * 9277u) * 6.2831853;
    float reach = 0.55 / (frame.misc.w * p.z) * 0.5, hidden = 0.0;
    for (int i = 0; i < 14; i++) {
        float r = (float(i) + 0.5) / 14.0, angle = turn + float(i) * 2.399963;
        vec2 at = uv + vec2(cos(angle) / frame.misc.y, sin(angle)) * max(reach * r, 2.0 * texel.y * r);
        vec3 d = position(clamp(at, 0.0, 1.0)) - p;
        float l = length(d) + 1e-4;
        hidden += max(dot(d, n) / l - 0.12, 0.0) * smoothstep(1.1, 0.2, l);
    }
    float open = clamp(1.0 - hidden / 14.0 * 2.4, 0.0, 1.0);
    vec3 light = textureLod(picture, uv, 0.0).rgb * mix(vec3(0.16, 0.15, 0.14), vec3(1.0), open);
    vec2 off = uv - 0.5;
    light *= 1.0 - 0.5 * dot(off, off);
    color = vec4(film(light * 0.95), 1.0);
}
