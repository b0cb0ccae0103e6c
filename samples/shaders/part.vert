#version 450
#extension GL_GOOGLE_include_directive : require
// A part, transformed by its instance. Axes may have different scales, so normals use cofactors.
#include "frame.glsl"
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 row0;
layout(location = 3) in vec4 row1;
layout(location = 4) in vec4 row2;
layout(location = 5) in vec4 paint;
layout(location = 0) out vec3 world;
layout(location = 1) out vec3 facing;
layout(location = 2) out vec4 tint;

void main() {
    vec4 at = vec4(position, 1.0);
    world = vec3(dot(row0, at), dot(row1, at), dot(row2, at));
    gl_Position = frame.view_proj * vec4(world, 1.0);
    vec3 x = vec3(row0.x, row1.x, row2.x), y = vec3(row0.y, row1.y, row2.y), z = vec3(row0.z, row1.z, row2.z);
    facing = normalize(cross(y, z) * normal.x + cross(z, x) * normal.y + cross(x, y) * normal.z);
    tint = paint;
}
