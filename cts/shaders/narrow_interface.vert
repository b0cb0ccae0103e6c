#version 450
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
// The rectangle of rect.vert with outputs of 16 bits: numbers, and a coordinate that halves round.
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) flat out i16vec2 whole;
layout(location = 1) out f16vec2 corner16;
layout(location = 2) flat out uint16_t natural[3];
void main() {
    vec2 corner = vec2[](vec2(0, 0), vec2(1, 0), vec2(0, 1), vec2(0, 1), vec2(1, 0), vec2(1, 1))[gl_VertexIndex % 6];
    gl_Position = vec4(mix(rect.xy, rect.zw, corner), extra.x, 1.0);
    whole = i16vec2(-300, 20000) + int16_t(extra.y);
    corner16 = f16vec2(corner * 37.7);
    for (int at = 0; at < 3; at++) natural[at] = uint16_t(65535 - at);
}
