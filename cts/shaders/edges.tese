#version 450
// Between four corners. What lies on an edge is the same seen from both sides.
layout(quads, fractional_odd_spacing, ccw) in;
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) in vec4 colors[];
layout(location = 0) out vec4 out_color;
void main() {
    float u = gl_TessCoord.x, v = gl_TessCoord.y;
    precise vec4 above = gl_in[0].gl_Position * (1.0 - u) + gl_in[1].gl_Position * u;
    precise vec4 below = gl_in[3].gl_Position * (1.0 - u) + gl_in[2].gl_Position * u;
    precise vec4 position = above * (1.0 - v) + below * v;
    gl_Position = position;
    gl_ClipDistance[0] = extra.z > 0.5 ? position.x : 1.0;
    out_color = mix(mix(colors[0], colors[1], u), mix(colors[3], colors[2], u), v);
}
