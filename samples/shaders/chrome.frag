#version 450
#extension GL_GOOGLE_include_directive : require
// Metal: the sky's reflection, from a level of the cube map chosen by roughness.
#include "common.glsl"
#include "frame.glsl"
layout(location = 0) in vec3 world;
layout(location = 1) in vec3 facing;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 1) uniform samplerCube sky;

void main() {
    vec3 n = normalize(facing);
    vec3 view = normalize(frame.eye.xyz - world);
    float fresnel = pow(max(1.0 - max(dot(n, view), 0.0), 0.0), 5.0);
    vec3 mirror = textureLod(sky, reflect(-view, n), push.look.x * 6.0).rgb;
    vec3 around = textureLod(sky, n, 6.0).rgb;
    vec3 metal = mix(push.color.rgb, vec3(1.0), fresnel) * mirror;
    color = vec4(film(metal + push.color.rgb * around * 0.12), 1.0);
}
