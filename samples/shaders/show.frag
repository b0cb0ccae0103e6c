#version 450
// Shows a texture on the whole screen.
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform sampler2D source;

void main() {
    color = vec4(texture(source, uv).rgb, 1.0);
}
