#version 450
#extension GL_GOOGLE_include_directive : require
// A puff of steam, lit from the window.
#include "common.glsl"
#include "frame.glsl"
#include "room.glsl"
layout(location = 0) in vec3 world;
layout(location = 1) in vec2 spot;
layout(location = 2) in vec4 tint;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 1) uniform sampler2D surface;

void main() {
    float r = dot(spot, spot);
    if (r > 1.0) {
        discard;
    }
    float curl = noise(vec3(spot * 1.6 + world.xy * 9.0, world.z * 9.0 + frame.misc.x));
    curl = curl * 0.6 + 0.4 * noise(vec3(spot * 3.7 + world.xy * 21.0, frame.misc.x));
    float cover = tint.a * (1.0 - r) * smoothstep(0.2, 0.8, curl);
    vec3 n = vec3(spot, sqrt(1.0 - r));
    vec3 light = tint.rgb * texture(surface, spot * 0.5).rgb * (diffuse_light(world, n) + vec3(0.35, 0.34, 0.30));
    color = vec4(film(light * 0.8), cover);
}
