#version 450
// As many components of a patch as there are at most.
layout(vertices = 3) out;
layout(location = 0) patch out vec4 all[32];
void main() {
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    for (int number = gl_InvocationID; number < 32; number += 3) all[number] = vec4(number, number * 2, -number, 0.5);
    gl_TessLevelOuter = float[4](1.0, 1.0, 1.0, 1.0);
    gl_TessLevelInner = float[2](1.0, 1.0);
}
