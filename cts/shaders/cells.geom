#version 450
// Of each point a number of cells of a grid of 16x16, a strip of four vertices each: as many as its number says, one after the other. With
// them come strips that are too short to be anything. Everything that can be given to fragments is.
layout(points, invocations = 2) in;
layout(triangle_strip, max_vertices = 72) out;
layout(location = 0) in int id[];
layout(location = 0) out vec4 out_color;
void corner(float x, float y, vec4 color) {
    gl_Position = vec4(x / 8.0 - 1.0, y / 8.0 - 1.0, 0.5, 1.0);
    out_color = color;
    EmitVertex();
}
void main() {
    int cells = id[0] % 9;
    for (int cell = 0; cell < cells; cell++) {
        float x = float(cell + 8 * gl_InvocationID), y = float(id[0]);
        vec4 color = vec4(float(id[0]), float(cell), float(gl_InvocationID), 255.0) / 255.0;
        corner(0.0, 0.0, color);
        corner(16.0, 0.0, color);
        EndPrimitive();
        corner(x, y, color);
        corner(x + 1.0, y, color);
        corner(x, y + 1.0, color);
        corner(x + 1.0, y + 1.0, color);
        EndPrimitive();
    }
    if (cells == 5) {
        corner(0.0, 0.0, vec4(1.0));
        corner(16.0, 16.0, vec4(1.0));
    }
}
