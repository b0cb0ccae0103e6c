#version 450
#extension GL_GOOGLE_include_directive : require
// Low sun with soft shadows: nine comparisons of a depth map, each filtered over four texels.
#include "common.glsl"
#include "frame.glsl"
layout(location = 0) in vec3 world;
layout(location = 1) in vec3 facing;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 1) uniform sampler2DShadow map;

float lit(vec3 n) {
    vec4 p = frame.light * vec4(world + n * 0.015, 1.0);
    vec2 step = 1.3 / vec2(textureSize(map, 0));
    float sum = 0.0;
    for (int i = 0; i < 9; i++) {
        vec2 at = p.xy * 0.5 + 0.5 + vec2(i % 3 - 1, i / 3 - 1) * step;
        sum += texture(map, vec3(at, min(p.z - 0.0004, 1.0)));
    }
    return sum / 9.0;
}

void main() {
    vec3 n = normalize(facing);
    vec3 sun = normalize(vec3(-0.75, 0.62, 0.35));
    vec3 view = normalize(frame.eye.xyz - world);
    float diffuse = max(dot(n, sun), 0.0);
    float shadow = diffuse > 0.0 ? lit(n) : 0.0;
    vec3 base = push.color.rgb;
    if (push.look.x > 0.0) {
        // Flagstones, by hashing the cell.
        vec2 cell = world.xz * 0.9;
        cell.x += 0.5 * mod(floor(cell.y), 2.0);
        vec2 edge = abs(fract(cell) - 0.5);
        float gap = 1.0 - smoothstep(0.455, 0.485, max(edge.x, edge.y));
        base *= (0.86 + 0.22 * hash3(ivec3(floor(cell), 3))) * mix(0.55, 1.0, gap);
    }
    vec3 sky = mix(vec3(0.13, 0.09, 0.08), vec3(0.10, 0.15, 0.26), n.y * 0.5 + 0.5);
    vec3 light = base * (sky + vec3(1.75, 1.25, 0.74) * diffuse * shadow);
    float shine = pow(max(dot(n, normalize(sun + view)), 0.0), 60.0) * push.color.a;
    light += vec3(1.6, 1.3, 0.9) * shine * shadow;
    float far = 1.0 - exp(-0.0007 * dot(frame.eye.xyz - world, frame.eye.xyz - world));
    color = vec4(film(mix(light, vec3(0.80, 0.56, 0.42), far) * 0.72), 1.0);
}
