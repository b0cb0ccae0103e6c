#version 450
#extension GL_GOOGLE_include_directive : require
// First subpass: what is where, not yet lit.
#include "common.glsl"
#include "frame.glsl"
layout(location = 0) in vec3 world;
layout(location = 1) in vec3 facing;
layout(location = 0) out vec4 albedo;
layout(location = 1) out vec4 normal;
layout(location = 2) out vec4 position;

void main() {
    vec3 base = push.color.rgb;
    if (push.look.x > 0.0) {
        vec2 cell = floor(world.xz * 1.5);
        base *= mix(0.35, 1.0, mod(cell.x + cell.y, 2.0)) * (0.8 + 0.4 * noise(world * 9.0));
    }
    albedo = vec4(base, push.color.a);
    normal = vec4(normalize(facing), 1.0);
    position = vec4(world, 1.0);
}
