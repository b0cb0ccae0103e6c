#version 450
#extension GL_GOOGLE_include_directive : require
// A point of the ground, as high as the ground is there; or as deep, in the water's mirror.
#include "common.glsl"
#include "frame.glsl"
#include "fjord.glsl"
layout(quads, fractional_even_spacing, ccw) in;
layout(location = 0) in vec2 place[];
layout(location = 0) out vec3 world;
layout(location = 1) out vec3 normal;

const float STEP = 0.012;

void main() {
    vec2 at = mix(mix(place[0], place[1], gl_TessCoord.x), mix(place[3], place[2], gl_TessCoord.x), gl_TessCoord.y);
    float here = height(at, 5);
    vec2 slope = vec2(height(at + vec2(STEP, 0.0), 5), height(at + vec2(0.0, STEP), 5)) - here;
    world = vec3(at.x, here, at.y);
    normal = normalize(vec3(-slope.x, STEP, -slope.y));
    vec3 mirror = vec3(1.0, push.look.x, 1.0);
    world *= mirror;
    normal *= mirror;
    // Below the water nothing is mirrored.
    gl_ClipDistance[0] = push.look.x < 0.0 ? here - 0.01 : 1.0;
    gl_Position = frame.view_proj * vec4(world, 1.0);
}
