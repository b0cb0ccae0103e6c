#version 450
#extension GL_GOOGLE_include_directive : require
// A blade of grass of a point: a strip that leans over and narrows to its tip.
#include "frame.glsl"
layout(points) in;
layout(triangle_strip, max_vertices = 9) out;
layout(location = 0) in vec4 root[];
layout(location = 1) in vec4 lean[];
layout(location = 0) out vec3 normal;
layout(location = 1) out vec3 world;
layout(location = 2) out vec2 along; // from root to tip, and hue

const int SEGMENTS = 4;

void main() {
    vec3 across = normalize(vec3(-lean[0].y, 0.0, lean[0].x) + vec3(0.6, 0.0, 0.0));
    float height = root[0].w;
    for (int segment = 0; segment <= SEGMENTS; segment++) {
        float t = float(segment) / float(SEGMENTS);
        vec3 bend = vec3(lean[0].x, 0.0, lean[0].y) * t * t;
        vec3 at = root[0].xyz + (bend + vec3(0.0, t * (1.0 - 0.35 * dot(bend, bend)), 0.0)) * height * vec3(2.0, 1.0, 2.0);
        vec3 up = normalize(vec3(lean[0].x * 4.0 * t, 1.0, lean[0].y * 4.0 * t));
        float width = lean[0].z * (1.0 - t * t);
        int sides = segment == SEGMENTS ? 1 : 2;
        for (int side = 0; side < sides; side++) {
            float s = sides == 1 ? 0.0 : float(side) * 2.0 - 1.0;
            world = at + across * width * s;
            // Rounded: each side looks its own way.
            normal = normalize(cross(across, up) + across * s * 0.7);
            along = vec2(t, lean[0].w);
            gl_Position = frame.view_proj * vec4(world, 1.0);
            EmitVertex();
        }
    }
}
