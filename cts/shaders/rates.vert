#version 450
// Corners of triangles; the size of their fragments is the first word of the second attribute.
#extension GL_EXT_fragment_shading_rate : require
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 more;
layout(location = 0) out vec2 place;
void main() {
    gl_Position = position;
    gl_PointSize = more.w;
    gl_PrimitiveShadingRateEXT = int(more.x);
    place = more.yz;
}
