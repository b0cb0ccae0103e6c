#version 450
// Four colours at once.
layout(location = 0) out vec4 first;
layout(location = 1) out vec4 second;
layout(location = 2) out uvec4 third;
layout(location = 3) out vec4 fourth;
void main() {
    first = vec4(1.0, 0.0, 0.0, 1.0);
    second = vec4(0.0, 1.0, 0.0, 1.0);
    third = uvec4(7u, 8u, 9u, 10u);
    fourth = vec4(gl_FragCoord.xy / 16.0, 1.0, 0.5);
}
