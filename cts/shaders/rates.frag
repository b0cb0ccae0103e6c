#version 450
// Where a fragment is, how large, and how far its neighbours are.
#extension GL_EXT_fragment_shading_rate : require
layout(location = 0) out vec4 result;
void main() {
    result = vec4(gl_FragCoord.xy, float(gl_ShadingRateEXT), dFdx(gl_FragCoord.x) * 16.0 + dFdy(gl_FragCoord.y));
}
