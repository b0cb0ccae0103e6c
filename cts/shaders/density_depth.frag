#version 450
// A fragment's place and size. Its depth is how far right its centre is.
#extension GL_EXT_fragment_invocation_density : require
layout(location = 0) out vec4 result;
void main() {
    ivec2 log2 = findMSB(gl_FragSizeEXT);
    gl_FragDepth = gl_FragCoord.x / 64.0;
    result = vec4(gl_FragCoord.xy, float(log2.x * 4 + log2.y), float(gl_FragSizeEXT.x * 16 + gl_FragSizeEXT.y));
}
