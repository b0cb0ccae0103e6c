#version 450
// Writes a depth of a push constant.
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) in vec4 in_color;
layout(location = 0) out vec4 result;
void main() {
    gl_FragDepth = extra.y;
    result = in_color;
}
