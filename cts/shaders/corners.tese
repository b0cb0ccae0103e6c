#version 450
// Between three corners. What lies on an edge is the same seen from both sides.
layout(triangles, fractional_even_spacing, ccw) in;
layout(location = 0) in vec4 colors[];
layout(location = 0) out vec4 out_color;
void main() {
    vec3 t = gl_TessCoord;
    precise vec4 a = gl_in[0].gl_Position * t.x, b = gl_in[1].gl_Position * t.y, c = gl_in[2].gl_Position * t.z;
    // The two that are not 0 on an edge are added alike, whichever they are.
    precise vec4 position = t.x == 0.0 ? b + c : t.y == 0.0 ? a + c : t.z == 0.0 ? a + b : a + b + c;
    gl_Position = position;
    out_color = colors[0] * t.x + colors[1] * t.y + colors[2] * t.z;
}
