#version 450
#extension GL_ARB_shader_viewport_layer_array : require
// The fourth coordinate is the number of the viewport, and 16 times that of the layer.
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 color;
layout(location = 0) out vec4 out_color;
void main() {
    gl_Position = vec4(position.xyz, 1.0);
    gl_PointSize = 1.0;
    int route = int(position.w);
    gl_ViewportIndex = route & 15;
    gl_Layer = route >> 4;
    out_color = color;
}
