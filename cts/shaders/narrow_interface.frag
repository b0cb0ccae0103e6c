#version 450
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
// Counts what is as the vertices made it, and the interpolated coordinate rounded to a half.
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) flat in i16vec2 whole;
layout(location = 1) in f16vec2 corner16;
layout(location = 2) flat in uint16_t natural[3];
layout(location = 0) out f16vec4 result;
void main() {
    int right = 0;
    right += int(whole.x == int16_t(-299)) + int(whole.y / int16_t(2) == int16_t(10000));
    right += int(whole.x < int16_t(0)) + int(abs(whole.x) == int16_t(299));
    for (int at = 0; at < 3; at++) right += int(natural[at] == uint16_t(65535 - at)) + int(uint(natural[at]) > 65532u);
    float x = float(corner16.x);
    result = f16vec4(float(right) / 255.0, floor(x) / 255.0, float(unpackHalf2x16(packHalf2x16(vec2(x))).x == x) / 255.0, 1.0);
}
