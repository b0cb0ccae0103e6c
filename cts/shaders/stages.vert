#version 450
// A rectangle as rect.vert makes it, with what interpolation, clipping and instancing cases need. extra.z is the case.
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) flat out vec4 flat_color;
layout(location = 1) out float smooth_value;
layout(location = 2) noperspective out float linear_value;
out gl_PerVertex {
    vec4 gl_Position;
    float gl_PointSize;
    float gl_ClipDistance[2];
    float gl_CullDistance[2];
};
void main() {
    vec2 corner = vec2[](vec2(0, 0), vec2(1, 0), vec2(0, 1), vec2(0, 1), vec2(1, 0), vec2(1, 1))[gl_VertexIndex % 6];
    int kind = int(extra.z);
    float w = kind == 4 ? mix(1.0, 4.0, corner.x) : 1.0;
    vec2 position = mix(rect.xy, rect.zw, corner);
    if (kind == 9) position = position * 0.25 + vec2(-0.75 + 0.5 * float(gl_InstanceIndex % 4), 0.0);
    gl_Position = vec4(position * w, extra.x * w, w);
    gl_PointSize = extra.y;
    flat_color = vec4(float(gl_VertexIndex % 6) * 16.0 / 255.0, float(gl_InstanceIndex) * 16.0 / 255.0, 0.0, 1.0);
    smooth_value = corner.x;
    linear_value = corner.x;
    gl_ClipDistance[0] = kind == 6 ? 0.5 - corner.x : 1.0;
    gl_ClipDistance[1] = kind == 6 ? corner.y - 0.25 : 1.0;
    gl_CullDistance[0] = kind == 7 ? -1.0 : 1.0;
    gl_CullDistance[1] = kind == 8 ? corner.x - 0.5 : 1.0;
}
