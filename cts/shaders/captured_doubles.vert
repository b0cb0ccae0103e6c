#version 450
// Captured structures with doubles, which begin and end at whole ones.
struct Part {
    float first;
    double second;
    float third;
};
layout(location = 1, xfb_buffer = 0, xfb_offset = 8) out Block { layout(xfb_offset = 8) Part parts[2]; };
void main() {
    gl_Position = vec4(0.0, 0.0, 0.0, 1.0);
    for (int part = 0; part < 2; part++) {
        parts[part] = Part(1.0, 2.0, 3.0);
    }
}
