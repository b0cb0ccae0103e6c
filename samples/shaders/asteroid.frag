#version 450
#extension GL_GOOGLE_include_directive : require
// A sunlit rock, dark where the planet stands between it and the sun.
#include "common.glsl"
layout(location = 0) in vec3 world;
layout(location = 1) in vec3 facing;
layout(location = 2) in vec3 shade;
layout(location = 0) out vec4 color;

void main() {
    // The facet's own normal from derivatives, softened by the sphere's.
    vec3 flat_normal = normalize(cross(dFdy(world), dFdx(world)));
    vec3 n = normalize(flat_normal + normalize(facing));
    vec3 sun = normalize(vec3(-0.8, 0.35, 0.5));
    float along = dot(world, sun);
    float away = length(world - along * sun);
    float eclipse = along < 0.0 ? smoothstep(0.96, 1.04, away) : 1.0;
    color = vec4(film(shade * (0.02 + 1.25 * max(dot(n, sun), 0.0) * eclipse)), 1.0);
}
