#version 450
#extension GL_EXT_fragment_shader_barycentric : require
layout(location = 0) pervertexEXT in vec4 color[3];
layout(location = 0) out vec4 result;
layout(push_constant) uniform Push { vec4 rect; vec4 tint; float depth; float extra; float show; float rest; };
// What is shown: weights with perspective, without, the color of one vertex, the colors weighted.
void main() {
    int what = int(show);
    if (what == 0) result = vec4(gl_BaryCoordEXT, 1.0);
    else if (what == 1) result = vec4(gl_BaryCoordNoPerspEXT, 1.0);
    else if (what < 5) result = color[what - 2];
    else if (what == 5) result = color[0] * gl_BaryCoordEXT.x + color[1] * gl_BaryCoordEXT.y + color[2] * gl_BaryCoordEXT.z;
    else result = vec4(interpolateAtOffset(gl_BaryCoordEXT, vec2(0.25, -0.25)), 1.0);
}
