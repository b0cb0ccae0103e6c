#version 450
#extension GL_GOOGLE_include_directive : require
// Leaves, cut out of their card: lit from both sides.
#include "common.glsl"
#include "frame.glsl"
#include "sunlight.glsl"
layout(location = 0) in vec3 world;
layout(location = 1) in vec3 facing;
layout(location = 2) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 2) uniform sampler2D surface;

void main() {
    vec4 texel = texture(surface, uv);
    // Averages lower the alpha of smaller mipmap levels.
    float level = textureQueryLod(surface, uv).x;
    if (texel.a * (1.0 + 0.3 * level) < 0.5) {
        discard;
    }
    vec3 n = normalize(facing), view = normalize(frame.eye.xyz - world);
    vec3 base = texel.rgb / max(texel.a, 0.3) * push.color.rgb * 0.62;
    base *= 0.7 + 0.5 * noise(world * 1.1);
    float sun = sun_visible(world, n);
    float diffuse = max(dot(n, SUN) * 0.75 + 0.25, 0.0);
    float through = pow(max(dot(-view, SUN), 0.0), 3.0);
    vec3 light = base * (ambient(world + vec3(0.0, 4.0, 0.0), n) + SUN_LIGHT * diffuse * sun * 0.8);
    light += base * vec3(0.8, 1.1, 0.3) * SUN_LIGHT * through * sun * 0.25;
    color = finish(light, world);
}
