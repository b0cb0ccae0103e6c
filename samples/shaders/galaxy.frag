#version 450
// A soft round spot, added to what is there.
layout(location = 0) in vec2 spot;
layout(location = 1) in vec3 glow;
layout(location = 0) out vec4 color;

void main() {
    float r = dot(spot, spot);
    if (r > 1.0) {
        discard;
    }
    float fade = (1.0 - r) * (1.0 - r);
    color = vec4(glow * fade, 1.0);
}
