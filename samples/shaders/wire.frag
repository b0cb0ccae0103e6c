#version 450
// The line's or point's colour.
layout(location = 0) in vec4 ink;
layout(location = 0) out vec4 color;

void main() {
    color = vec4(ink.rgb, 1.0);
}
