#version 450
// The reference of the stencil test is the pixel's column; bits above the eighth do not count.
#extension GL_ARB_shader_stencil_export : require
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;
void main() {
    gl_FragStencilRefARB = int(gl_FragCoord.x) + 256;
    result = color;
}
