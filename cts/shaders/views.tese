#version 450
// Moves triangles as views.vert does.
#extension GL_EXT_multiview : require
layout(triangles, equal_spacing, ccw) in;
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) in vec4 color_in[];
layout(location = 0) out vec4 color_out;
void main() {
    vec3 weights = gl_TessCoord;
    vec4 place = weights.x * gl_in[0].gl_Position + weights.y * gl_in[1].gl_Position + weights.z * gl_in[2].gl_Position;
    gl_Position = place + vec4(float(gl_ViewIndex) * extra.y, 0.0, 0.0, 0.0);
    color_out = color_in[0];
}
