#version 450
// As route.vert, for a geometry shader that routes.
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 color;
layout(location = 0) out vec4 out_color;
layout(location = 1) out int route;
void main() {
    gl_Position = vec4(position.xyz, 1.0);
    gl_PointSize = 1.0;
    route = int(position.w);
    out_color = color;
}
