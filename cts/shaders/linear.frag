#version 450
// What vertices have, linear in the window.
layout(location = 0) noperspective in vec4 color;
layout(location = 0) out vec4 result;
void main() {
    result = color;
}
