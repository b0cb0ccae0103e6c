#version 450
// Green where all components of the patch have arrived, red elsewhere.
layout(triangles, equal_spacing, ccw) in;
layout(location = 0) patch in vec4 all[32];
layout(location = 0) out vec4 color;
void main() {
    bool good = true;
    for (int number = 0; number < 32; number++) good = good && all[number] == vec4(number, number * 2, -number, 0.5);
    color = good ? vec4(0.0, 1.0, 0.0, 1.0) : vec4(1.0, 0.0, 0.0, 1.0);
    gl_Position = gl_TessCoord.x * gl_in[0].gl_Position + gl_TessCoord.y * gl_in[1].gl_Position
        + gl_TessCoord.z * gl_in[2].gl_Position;
}
