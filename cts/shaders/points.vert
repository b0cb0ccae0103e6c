#version 450
layout(location = 0) in vec2 position;
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) out vec4 out_color;
void main() {
    gl_Position = vec4(position, extra.x, 1.0);
    gl_PointSize = extra.y;
    out_color = color;
}
