#version 450
#extension GL_GOOGLE_include_directive : require
// Labels and leaves, cut out by alpha. Leaves are translucent.
#include "common.glsl"
#include "frame.glsl"
#include "room.glsl"
layout(location = 0) in vec3 world;
layout(location = 1) in vec3 facing;
layout(location = 2) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 1) uniform sampler2D surface;

void main() {
    vec4 texel = texture(surface, uv);
    if (texel.a < 0.45) {
        discard;
    }
    float leaf = push.look.y;
    vec3 n = normalize(gl_FrontFacing ? facing : mix(-facing, facing, leaf));
    vec3 base = texel.rgb * push.color.rgb * (0.85 + 0.3 * noise(world * 14.0));
    vec3 light = base * diffuse_light(world, n);
    light += base * vec3(0.9, 1.0, 0.4) * leaf * 0.55 * (0.4 + 0.6 * noise(world * 4.0));
    color = vec4(film(light * 0.8), 1.0);
}
