#version 450
// Corners of triangles, and where they are.
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 more;
layout(location = 0) out vec2 place;
void main() {
    gl_Position = position;
    place = more.yz;
}
