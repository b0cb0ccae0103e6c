#version 450
// Patches as they come, undivided.
layout(vertices = 3) out;
layout(location = 0) in vec4 color[];
layout(location = 1) in int route[];
layout(location = 0) out vec4 out_color[];
layout(location = 1) out int out_route[];
void main() {
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    out_color[gl_InvocationID] = color[gl_InvocationID];
    out_route[gl_InvocationID] = route[gl_InvocationID];
    gl_TessLevelOuter = float[](1.0, 1.0, 1.0, 1.0);
    gl_TessLevelInner = float[](1.0, 1.0);
}
