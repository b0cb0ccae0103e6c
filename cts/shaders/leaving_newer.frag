#version 450
// Environment: vulkan1.3
// As `leaving.frag`, where the built-in says what invocations are now.
#extension GL_EXT_terminate_invocation : require
#extension GL_EXT_demote_to_helper_invocation : require
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) out vec4 result;
void main() {
    vec2 place = floor(gl_FragCoord.xy);
    bool leaves = mod(place.x + place.y, 2.0) == 1.0;
    if (extra.z == 1.0 && leaves) terminateInvocation;
    if (extra.z == 2.0 && leaves) demote;
    float step = extra.z == 2.0 ? dFdx(place.x * place.x) : 3.0;
    result = vec4(step / 255.0, gl_HelperInvocation ? 1.0 : 0.0, 0.0, 1.0);
}
