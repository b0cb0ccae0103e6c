#version 450
// A strip of as many vertices as there may be: a ribbon along a row of pixels, whose colour changes with each.
layout(points) in;
layout(triangle_strip, max_vertices = 128) out;
layout(location = 0) in int id[];
layout(location = 0) out vec4 out_color;
void main() {
    float y = float(id[0]);
    for (int number = 0; number < 64; number++) {
        float x = float(number) / 4.0;
        out_color = vec4(float(number / 4) * 16.0 + 8.0, float(id[0]), float(number), 255.0) / 255.0;
        gl_Position = vec4(x / 8.0 - 1.0, y / 8.0 - 1.0, 0.5, 1.0);
        EmitVertex();
        gl_Position = vec4(x / 8.0 - 1.0, (y + 1.0) / 8.0 - 1.0, 0.5, 1.0);
        EmitVertex();
    }
}
