#version 450
// A rectangle as rect.vert makes it, shifted by a quarter of the window, and farther by a quarter, for each view.
#extension GL_EXT_multiview : require
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) out vec4 out_color;
void main() {
    vec2 corner = vec2[](vec2(0, 0), vec2(1, 0), vec2(0, 1), vec2(0, 1), vec2(1, 0), vec2(1, 1))[gl_VertexIndex % 6];
    float view = float(gl_ViewIndex);
    vec2 place = mix(rect.xy, rect.zw, corner) + vec2(view * extra.y, 0.0);
    gl_Position = vec4(place, extra.x + view * extra.z, 1.0);
    out_color = color;
}
