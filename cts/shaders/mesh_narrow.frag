#version 450
#extension GL_EXT_mesh_shader : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
// Environment: vulkan1.2
// Shows which inputs are right, one bit for each.
layout(location = 0) perprimitiveEXT flat in float16_t one;
layout(location = 1) perprimitiveEXT flat in f16vec2 two;
layout(location = 2) perprimitiveEXT flat in f16vec3 three;
layout(location = 3) perprimitiveEXT flat in f16vec4 four;
layout(location = 4) perprimitiveEXT flat in int16_t whole_one;
layout(location = 5) perprimitiveEXT flat in i16vec2 whole_two;
layout(location = 6) perprimitiveEXT flat in i16vec3 whole_three;
layout(location = 7) perprimitiveEXT flat in i16vec4 whole_four;
layout(location = 8) flat in float16_t flat_one;
layout(location = 9) flat in f16vec2 flat_two;
layout(location = 10) flat in f16vec3 flat_three;
layout(location = 11) in f16vec4 smooth_four;
layout(location = 0) out vec4 result;
uint bit(int number, bool is_right) { return is_right ? 1u << number : 0u; }
void main() {
    int base = 1000 + gl_PrimitiveID * 16;
    uint floats = bit(0, one == float(base)) | bit(1, two == vec2(base + 1, base + 2))
        | bit(2, three == vec3(base + 3, base + 4, base + 5))
        | bit(3, four == vec4(base + 6, base + 7, base + 8, base + 9));
    uint wholes = bit(0, whole_one == int16_t(-base)) | bit(1, whole_two == i16vec2(-base - 1, -base - 2))
        | bit(2, whole_three == i16vec3(-base - 3, -base - 4, -base - 5))
        | bit(3, whole_four == i16vec4(-base - 6, -base - 7, -base - 8, -base - 9));
    uint vertices = bit(0, flat_one == float16_t(2000)) | bit(1, flat_two == f16vec2(2001, 2002))
        | bit(2, flat_three == vec3(2003, 2004, 2005))
        | bit(3, abs(smooth_four.x * 16.0 - gl_FragCoord.x) <= 0.01 && abs(smooth_four.y * 16.0 - gl_FragCoord.y) <= 0.01 && smooth_four.zw == f16vec2(3, 4));
    result = vec4(floats, wholes, vertices, gl_PrimitiveID) / 255.0;
}
