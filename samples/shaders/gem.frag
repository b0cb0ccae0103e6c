#version 450
#extension GL_GOOGLE_include_directive : require
// A cut stone with flat facets, or a plain colour for outlines and the mirror.
#include "common.glsl"
#include "frame.glsl"
layout(location = 0) in vec3 world;
layout(location = 1) in vec3 facing;
layout(location = 0) out vec4 color;

void main() {
    if (push.look.x > 0.0) {
        float fade = push.look.y > 0.0 ? 1.0 - smoothstep(2.0, 5.2, length(world.xz)) : 1.0;
        color = vec4(push.color.rgb, mix(1.0, push.color.a, fade));
        return;
    }
    vec3 n = normalize(facing);
    vec3 view = normalize(frame.eye.xyz - world);
    vec3 r = reflect(-view, n);
    float sky = smoothstep(-0.2, 0.9, r.y) * 0.5 + 1.6 * smoothstep(0.90, 0.97, dot(r, normalize(vec3(-0.4, 0.75, 0.5))));
    sky += 0.8 * smoothstep(0.86, 0.95, dot(r, normalize(vec3(0.8, 0.3, 0.4))));
    // Light that went through and came out again, coloured by the way.
    vec3 through = refract(-view, n, 0.62);
    float inside = 0.5 + 0.5 * sin(through.x * 7.0 + through.y * 11.0 + world.y * 3.0);
    float nv = max(dot(n, view), 0.0);
    float fresnel = 0.06 + 0.94 * pow(max(1.0 - nv, 0.0), 5.0);
    vec3 body = push.color.rgb * (0.10 + 1.1 * inside * inside + 0.35 * max(n.y, 0.0));
    color = vec4(film(mix(body, vec3(0.9, 0.95, 1.0) * sky, clamp(fresnel + 0.05, 0.0, 1.0))), 1.0);
}
