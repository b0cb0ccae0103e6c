#version 450
#extension GL_GOOGLE_include_directive : require
// A square towards the eye of each firefly that shines.
#include "frame.glsl"
layout(points) in;
layout(triangle_strip, max_vertices = 4) out;
layout(location = 0) in vec4 place[];
layout(location = 0) out vec2 spot;
layout(location = 1) out float shine;

void main() {
    if (place[0].w < 0.02) return;
    vec4 centre = frame.view_proj * vec4(place[0].xyz, 1.0);
    for (int corner = 0; corner < 4; corner++) {
        spot = vec2(corner & 1, corner >> 1) * 2.0 - 1.0;
        shine = place[0].w;
        gl_Position = centre + vec4(spot * 0.055 / frame.misc.w * vec2(1.0 / frame.misc.y, 1.0), 0.0, 0.0);
        EmitVertex();
    }
}
