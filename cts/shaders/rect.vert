#version 450
// A rectangle of two triangles, from push constants: corners, depth, colour.
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) out vec4 out_color;
layout(location = 1) out vec2 out_uv;
void main() {
    vec2 corner = vec2[](vec2(0, 0), vec2(1, 0), vec2(0, 1), vec2(0, 1), vec2(1, 0), vec2(1, 1))[gl_VertexIndex % 6];
    gl_Position = vec4(mix(rect.xy, rect.zw, corner), extra.x, 1.0);
    out_color = color;
    out_uv = corner * extra.y;
}
