#version 460
// Environment: vulkan1.1
// Attributes of 64 bits, of which those of three and four components take two locations, as they come in memory.
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float64 : require
layout(location = 0) in f64vec4 four;
layout(location = 2) in float between;
layout(location = 3) in i64vec3 three;
layout(location = 5) in u64vec2 two;
layout(location = 6) in double one;
layout(set = 0, binding = 0, std430) buffer Out { uint64_t words[]; };
void main() {
    uint first = gl_VertexIndex * 11u;
    for (uint i = 0; i < 4u; i++) { words[first + i] = doubleBitsToUint64(four[i]); }
    for (uint i = 0; i < 3u; i++) { words[first + 4u + i] = uint64_t(three[i]); }
    for (uint i = 0; i < 2u; i++) { words[first + 7u + i] = two[i]; }
    words[first + 9u] = doubleBitsToUint64(one);
    words[first + 10u] = uint64_t(floatBitsToUint(between));
    gl_Position = vec4(0.0, 0.0, 0.0, 1.0);
    gl_PointSize = 1.0;
}
