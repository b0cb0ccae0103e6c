#version 450
#extension GL_GOOGLE_include_directive : require
// Metallic-roughness shading (glTF 2.0 appendix B) with three lights and a studio of soft boxes around.
#include "common.glsl"
layout(location = 0) in vec3 world;
layout(location = 1) in vec3 facing;
layout(location = 2) in vec4 along;
layout(location = 3) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform Frame {
    mat4 view_proj;
    mat4 model;
    vec4 eye;
    vec4 size;
} frame;
layout(set = 0, binding = 1) uniform sampler2D base_map;
layout(set = 0, binding = 2) uniform sampler2D normal_map;
layout(set = 0, binding = 3) uniform sampler2D rough_map;

const float PI = 3.14159265;

vec3 studio(vec3 d, float rough) {
    float w = 0.12 + rough * 0.5;
    vec3 sky = mix(vec3(0.035, 0.03, 0.03), vec3(0.16, 0.19, 0.25), smoothstep(-0.5, 1.0, d.y));
    sky += vec3(2.2, 1.9, 1.5) * (1.0 - smoothstep(-w, w, length(d.xz - vec2(0.35, 0.2)) - 0.42)) * step(0.0, d.y) / (1.0 + 3.0 * rough);
    sky += vec3(0.5, 0.8, 1.4) * smoothstep(0.85 - w, 0.85 + w, dot(d, normalize(vec3(-0.9, 0.25, -0.3)))) / (1.0 + 2.0 * rough);
    return sky;
}

vec3 brdf(vec3 n, vec3 v, vec3 l, vec3 base, vec3 f0, float rough, float metal) {
    vec3 h = normalize(v + l);
    float nl = max(dot(n, l), 0.0), nv = max(dot(n, v), 1e-3), nh = max(dot(n, h), 0.0), vh = max(dot(v, h), 0.0);
    float a = rough * rough, a2 = a * a;
    float d = nh * nh * (a2 - 1.0) + 1.0;
    float ggx = a2 / (PI * d * d);
    float vis = 0.5 / (nl * sqrt(nv * nv * (1.0 - a2) + a2) + nv * sqrt(nl * nl * (1.0 - a2) + a2) + 1e-4);
    vec3 f = f0 + (1.0 - f0) * pow(max(1.0 - vh, 0.0), 5.0);
    return (f * ggx * vis + (1.0 - f) * (1.0 - metal) * base / PI) * nl;
}

void main() {
    vec3 n = normalize(facing);
    vec3 t = normalize(along.xyz - n * dot(n, along.xyz));
    vec3 b = cross(n, t) * along.w;
    vec3 m = texture(normal_map, uv).xyz * 2.0 - 1.0;
    n = normalize(t * m.x + b * m.y + n * m.z);
    vec3 base = texture(base_map, uv).rgb;
    vec2 rm = texture(rough_map, uv).gb;
    float rough = clamp(rm.x, 0.06, 1.0), metal = rm.y;
    vec3 f0 = mix(vec3(0.04), base, metal);
    vec3 v = normalize(frame.eye.xyz - world);

    vec3 light = brdf(n, v, normalize(vec3(0.5, 0.9, 0.55)), base, f0, rough, metal) * vec3(4.6, 4.1, 3.4);
    light += brdf(n, v, normalize(vec3(-0.9, 0.35, -0.35)), base, f0, rough, metal) * vec3(0.8, 1.5, 2.8);
    light += brdf(n, v, normalize(vec3(-0.3, 0.5, 0.9)), base, f0, rough, metal) * vec3(0.7, 0.5, 0.45);

    float nv = max(dot(n, v), 0.0);
    vec3 fresnel = f0 + (max(vec3(1.0 - rough), f0) - f0) * pow(max(1.0 - nv, 0.0), 5.0);
    vec3 around = fresnel * studio(reflect(-v, n), rough) + (1.0 - fresnel) * (1.0 - metal) * base * studio(n, 1.0);
    // Soft contact shadows on the table, where the three objects stand.
    vec3 local = transpose(mat3(frame.model)) * world;
    float stand = 1.0;
    if (facing.y > 0.9 && local.y < 0.01) {
        float d0 = length(local.xz), d1 = length(local.xz - vec2(1.55, 0.35)), d2 = length(local.xz - vec2(-1.45, 0.75));
        stand = (1.0 - 0.75 * exp(-3.5 * d0 * d0)) * (1.0 - 0.6 * exp(-4.0 * d1 * d1)) * (1.0 - 0.8 * exp(-9.0 * d2 * d2));
    }
    color = vec4(film((light + around) * stand * 0.9), 1.0);
}
