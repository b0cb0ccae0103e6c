#version 450
// What a fragment knows of its samples.
#extension GL_EXT_fragment_shading_rate : require
layout(location = 0) out vec4 result;
void main() {
    int mask = gl_SampleMaskIn[0];
    result = vec4(float(mask & 0xffff), float(mask >> 16 & 0xffff), float(gl_ShadingRateEXT), gl_HelperInvocation ? 2.0 : 1.0);
}
