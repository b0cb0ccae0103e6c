#version 460
// Environment: vulkan1.3
// As `demote.frag`, where the built-in says what lanes are now.
#extension GL_EXT_demote_to_helper_invocation : require
#extension GL_EXT_terminate_invocation : require
layout(location = 0) flat in int key;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
void main() {
    if ((key & 1) != 0) demote;
    words[key] = gl_HelperInvocation ? 100u : 10u;
    float slope = dFdx(float(key * key));
    if (key % 5 == 4) terminateInvocation;
    words[16 + key] = 1u;
    color = vec4(slope, gl_HelperInvocation ? 1.0 : 0.0, 0.0, 1.0);
}
