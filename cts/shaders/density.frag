#version 450
// Where a fragment is, how large, how often it is shaded, and how far its neighbours are.
#extension GL_EXT_fragment_invocation_density : require
layout(location = 0) out vec4 result;
void main() {
    ivec2 log2 = findMSB(gl_FragSizeEXT);
    int word = log2.x * 4 + log2.y + (gl_FragInvocationCountEXT - 1) * 16;
    result = vec4(gl_FragCoord.xy, float(word), dFdx(gl_FragCoord.x) * 16.0 + dFdy(gl_FragCoord.y));
}
