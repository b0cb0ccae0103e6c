#version 450
// A fragment of every sample.
#extension GL_EXT_fragment_shading_rate : require
layout(location = 0) out vec4 result;
void main() {
    result = vec4(gl_FragCoord.xy, float(gl_ShadingRateEXT), float(gl_SampleID));
}
