#version 450
// Some of a fragment's samples only.
#extension GL_EXT_fragment_shading_rate : require
layout(location = 0) out vec4 result;
void main() {
    gl_SampleMask[0] = 0x5a3c96e1;
    result = vec4(gl_FragCoord.xy, float(gl_ShadingRateEXT), dFdx(gl_FragCoord.x) * 16.0 + dFdy(gl_FragCoord.y));
}
