#version 450
// The same, with layer and viewport.
#extension GL_EXT_fragment_shading_rate : require
#extension GL_ARB_shader_viewport_layer_array : require
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 more;
layout(location = 0) out vec2 place;
void main() {
    gl_Position = position;
    gl_PrimitiveShadingRateEXT = int(more.x);
    gl_Layer = int(more.y);
    gl_ViewportIndex = int(more.z);
    place = more.yz;
}
