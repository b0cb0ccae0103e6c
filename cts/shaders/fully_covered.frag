#version 450
// Red of the primitive; green where it covers all of the fragment.
#extension GL_NV_conservative_raster_underestimation : require
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;
void main() {
    result = vec4(color.r, gl_FragFullyCoveredNV ? color.r : 0.0, 0.0, 1.0);
}
