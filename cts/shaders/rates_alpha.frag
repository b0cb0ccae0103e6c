#version 450
// Alpha is how far right a fragment's centre is.
layout(location = 0) out vec4 result;
void main() {
    result = vec4(gl_FragCoord.xy, 1.0, gl_FragCoord.x / 64.0);
}
