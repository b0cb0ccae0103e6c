#version 450
// The colour that it is given, with the number of the view as blue.
#extension GL_EXT_multiview : require
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;
void main() { result = vec4(color.rg, (float(gl_ViewIndex) + color.b) / 255.0, 1.0); }
