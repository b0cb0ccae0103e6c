#version 450
// Every other fragment along both axes.
#extension GL_EXT_fragment_shading_rate : require
layout(location = 0) out vec4 result;
void main() {
    ivec2 size = ivec2(1 << (gl_ShadingRateEXT >> 2 & 3), 1 << (gl_ShadingRateEXT & 3));
    ivec2 cell = ivec2(gl_FragCoord.xy) / size;
    if ((cell.x + cell.y & 1) != 0) discard;
    result = vec4(gl_FragCoord.xy, float(gl_ShadingRateEXT), dFdx(gl_FragCoord.x) * 16.0 + dFdy(gl_FragCoord.y));
}
