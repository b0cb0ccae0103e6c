#version 450
// Routes triangles as their patch's first vertex says: which of a triangle's own vertices is first is the implementation's.
#extension GL_ARB_shader_viewport_layer_array : require
layout(triangles, equal_spacing, ccw) in;
layout(location = 0) in vec4 color[];
layout(location = 1) in int route[];
layout(location = 0) out vec4 out_color;
void main() {
    vec3 weights = gl_TessCoord;
    gl_Position = weights.x * gl_in[0].gl_Position + weights.y * gl_in[1].gl_Position + weights.z * gl_in[2].gl_Position;
    gl_ViewportIndex = route[0] & 15;
    gl_Layer = route[0] >> 4;
    out_color = color[0];
}
