#version 450
// A point, by its number.
layout(location = 0) flat out uint id;
void main() {
    id = uint(gl_VertexIndex);
    gl_Position = vec4(0.0, 0.0, 0.5, 1.0);
}
