#version 450
// What each case of the fragment stage shows. extra.z is the case.
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) flat in vec4 flat_color;
layout(location = 1) in float smooth_value;
layout(location = 2) noperspective in float linear_value;
layout(location = 0) out vec4 result;
void main() {
    int kind = int(extra.z);
    vec2 at = floor(gl_FragCoord.xy);
    result = color;
    switch (kind) {
    case 0: result = vec4(at / 255.0, gl_FragCoord.z, gl_FragCoord.w); break;
    case 1: result = gl_FrontFacing ? vec4(0, 1, 0, 1) : vec4(1, 0, 0, 1); break;
    case 2: if ((int(at.x) + int(at.y)) % 2 == 0) discard; break;
    case 3: result = vec4(dFdx(gl_FragCoord.x * 10.0), dFdy(gl_FragCoord.y * 20.0), fwidth(gl_FragCoord.x + gl_FragCoord.y) * 30.0, 255.0) / 255.0; break;
    case 4: result = vec4(smooth_value, linear_value, 0.0, 1.0); break;
    case 5: case 9: result = flat_color; break;
    case 10: result = vec4(floor(gl_PointCoord * 16.0) / 255.0, 0.0, 1.0); break;
    }
}
