#version 450
// A rectangle that clip and cull distances cut, as its kind says: 0, clipped at half; 1, one of two triangles culled; 2, neither.
layout(points) in;
layout(triangle_strip, max_vertices = 4) out;
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) out vec4 out_color;
out gl_PerVertex {
    vec4 gl_Position;
    float gl_ClipDistance[1];
    float gl_CullDistance[1];
};
void main() {
    int kind = int(extra.z);
    for (int corner = 0; corner < 4; corner++) {
        float x = float(corner & 1), y = float(corner >> 1);
        gl_Position = vec4(x * 2.0 - 1.0, y * 2.0 - 1.0, 0.5, 1.0);
        gl_ClipDistance[0] = kind == 0 ? 0.5 - x : 1.0;
        gl_CullDistance[0] = kind == 1 ? (corner == 3 ? 1.0 : -1.0) : 1.0;
        out_color = color;
        EmitVertex();
    }
}
