#version 450
// Depth pass of cut-out objects: discards texels of low alpha.
layout(location = 0) in vec2 uv;
layout(set = 0, binding = 2) uniform sampler2D surface;

void main() {
    if (texture(surface, uv).a < 0.4) {
        discard;
    }
}
