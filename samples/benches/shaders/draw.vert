#version 450
// A small triangle whose place and size are push constants, with the colour of a uniform block.
layout(push_constant) uniform Push { vec4 place; };
layout(set = 0, binding = 0) uniform Block { vec4 tint; };
layout(location = 0) out vec4 color;
void main() {
    vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
    gl_Position = vec4(place.xy + corner * place.zw, 0.5, 1.0);
    color = tint;
}
