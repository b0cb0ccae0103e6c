#version 450
// The depth of a fragment is how far right its centre is.
#extension GL_EXT_fragment_shading_rate : require
layout(location = 0) out vec4 result;
void main() {
    gl_FragDepth = gl_FragCoord.x / 64.0;
    result = vec4(gl_FragCoord.xy, float(gl_ShadingRateEXT), dFdx(gl_FragCoord.x) * 16.0 + dFdy(gl_FragCoord.y));
}
