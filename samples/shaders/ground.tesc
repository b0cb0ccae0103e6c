#version 450
#extension GL_GOOGLE_include_directive : require
// How finely a patch of ground is cut: by the lengths of its edges in the picture; not at all outside of it.
#include "common.glsl"
#include "frame.glsl"
#include "fjord.glsl"
layout(vertices = 4) out;
layout(location = 0) in vec2 corner[];
layout(location = 0) out vec2 place[];

bool is_outside() {
    int lost = 63;
    for (int i = 0; i < 8; i++) {
        vec4 at = frame.view_proj * vec4(corner[i & 3].x, push.look.x * (i < 4 ? -0.3 : HIGHEST), corner[i & 3].y, 1.0);
        int sides = (at.x < -at.w ? 1 : 0) | (at.x > at.w ? 2 : 0) | (at.y < -at.w ? 4 : 0) | (at.y > at.w ? 8 : 0);
        lost &= sides | (at.w < 0.02 ? 16 : 0);
    }
    return lost != 0;
}

// The same for both patches of an edge.
float cuts(vec2 a, vec2 b) {
    vec2 middle = (a + b) * 0.5;
    float far = distance(frame.eye.xyz, vec3(middle.x, push.look.x * max(height(middle, 2), 0.0), middle.y));
    return clamp(distance(a, b) / frame.misc.w * push.look.y / max(far, 0.05), 1.0, 64.0);
}

void main() {
    place[gl_InvocationID] = corner[gl_InvocationID];
    if (gl_InvocationID == 0) {
        bool lost = is_outside();
        for (int edge = 0; edge < 4; edge++) {
            // Edge 0 lies between vertices 3 and 0.
            gl_TessLevelOuter[edge] = lost ? 0.0 : cuts(corner[(edge + 3) & 3], corner[edge]);
        }
        gl_TessLevelInner[0] = (gl_TessLevelOuter[1] + gl_TessLevelOuter[3]) * 0.5;
        gl_TessLevelInner[1] = (gl_TessLevelOuter[0] + gl_TessLevelOuter[2]) * 0.5;
    }
}
