#version 450
// A point for each instance, from the left to the right; its colour is an attribute.
layout(location = 0) in vec4 color;
layout(push_constant) uniform Push { vec4 rect; vec4 color_of_all; vec4 extra; };
layout(location = 0) out vec4 out_color;
void main() {
    gl_Position = vec4((gl_InstanceIndex - extra.y + 0.5) / 8.0 - 1.0, 0.0625, 0.5, 1.0);
    gl_PointSize = 1.0;
    out_color = color;
}
