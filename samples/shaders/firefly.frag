#version 450
// The glow of a firefly.
layout(location = 0) in vec2 spot;
layout(location = 1) in float shine;
layout(location = 0) out vec4 color;

void main() {
    float far = dot(spot, spot);
    float glow = 0.10 * max(1.0 - far, 0.0) + smoothstep(0.030, 0.0, far);
    color = vec4(vec3(0.95, 1.0, 0.35) * glow * shine, 1.0);
}
