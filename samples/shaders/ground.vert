#version 450
// A corner of a patch of ground: from its number alone.
layout(location = 0) out vec2 corner;

const int ACROSS = 48;

void main() {
    int patch_number = gl_VertexIndex >> 2, number = gl_VertexIndex & 3;
    ivec2 at = ivec2(patch_number % ACROSS, patch_number / ACROSS) + ivec2(((number + 1) & 2) >> 1, number >> 1);
    // Those at the far end are larger.
    float along = float(at.y) / 64.0;
    corner = vec2((float(at.x) - 24.0) * (0.16 + 0.2 * along), 1.6 - 4.0 * along - 14.0 * along * along);
}
