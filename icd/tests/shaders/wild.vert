#version 450
// Positions as the buffer says: numbers of every kind.
layout(location = 0) in vec4 position;
void main() {
    gl_Position = position;
    gl_PointSize = 1.0;
}
