#version 450
#extension GL_GOOGLE_include_directive : require
// Lines and points of a breathing sphere, bright in front and dim behind.
#include "common.glsl"
#include "frame.glsl"
layout(location = 0) in vec3 position;
layout(location = 0) out vec4 ink;

void main() {
    float swell = noise(position * 2.3 + vec3(0.0, frame.misc.x * 0.4, 0.0));
    vec3 at = position * (1.0 + push.look.x * (swell - 0.5));
    gl_Position = frame.view_proj * (push.model * vec4(at, 1.0));
    gl_PointSize = push.look.y > 0.0 ? clamp(push.look.y * 4.5 / gl_Position.w, 1.0, frame.misc.z) : 1.0;
    float front = 1.0 - smoothstep(3.6, 5.6, gl_Position.w);
    vec3 tint = mix(push.color.rgb, vec3(1.0, 0.55, 0.25), smoothstep(0.45, 0.8, swell));
    ink = vec4(tint * mix(0.10, 1.0, front), 1.0) * push.color.a;
}
