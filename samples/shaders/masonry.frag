#version 450
#extension GL_GOOGLE_include_directive : require
// Walls, roofs, roads and plain objects: a texture whose alpha is its height, with soot and weather.
#include "common.glsl"
#include "frame.glsl"
#include "sunlight.glsl"
layout(location = 0) in vec3 world;
layout(location = 1) in vec3 facing;
layout(location = 2) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 2) uniform sampler2D surface;

// Returns the normal, tilted by the slope of a height that is given at each pixel.
vec3 bumped(vec3 n, float height) {
    vec3 across = dFdx(world), down = dFdy(world);
    vec3 r1 = cross(down, n), r2 = cross(n, across);
    float area = dot(across, r1);
    vec3 slope = sign(area) * (dFdx(height) * r1 + dFdy(height) * r2);
    return normalize(abs(area) * n - slope);
}

void main() {
    vec4 texel = texture(surface, uv * 0.5);
    vec3 n = bumped(normalize(facing), texel.a * 0.012);
    vec3 base = texel.rgb * push.color.rgb;
    float cloudy = noise(world * vec3(0.31, 0.22, 0.31)), streak = noise(vec3(world.x * 3.0, world.y * 0.25, world.z * 3.0));
    base *= 0.62 + 0.24 * cloudy + 0.16 * streak;
    base *= mix(vec3(0.62, 0.58, 0.54), vec3(1.0), smoothstep(-0.2, 1.6 + cloudy, world.y + 2.0 * max(n.y, 0.0)));
    vec3 view = normalize(frame.eye.xyz - world);
    float diffuse = max(dot(n, SUN), 0.0);
    float sun = diffuse > 0.0 ? sun_visible(world, normalize(facing)) : 0.0;
    vec3 light = base * (ambient(world, n) + SUN_LIGHT * diffuse * sun);
    float shine = pow(max(dot(n, normalize(SUN + view)), 0.0), 24.0) * 0.10;
    light += SUN_LIGHT * shine * sun * texel.a;
    color = finish(light, world);
}
