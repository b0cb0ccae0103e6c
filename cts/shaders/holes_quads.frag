#version 450
// Makes every other pixel a helper, and writes the colour only where neighbours in a quad are a pixel apart.
#extension GL_EXT_demote_to_helper_invocation : require
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    if ((at.x + at.y) % 2 == 1) demote;
    vec4 changes = vec4(dFdx(gl_FragCoord.xy), dFdy(gl_FragCoord.xy));
    result = changes != vec4(1.0, 0.0, 0.0, 1.0) ? vec4(0.5) : color;
}
