#version 450
// Of each point four rectangles below each other, by an invocation each; their primitives have numbers of their own.
layout(points, invocations = 4) in;
layout(triangle_strip, max_vertices = 4) out;
layout(location = 0) in int id[];
void main() {
    for (int corner = 0; corner < 4; corner++) {
        float y = float(gl_InvocationID + (corner >> 1)) * 0.5 - 1.0;
        gl_Position = vec4(float(corner & 1) * 2.0 - 1.0, y, 0.5, 1.0);
        gl_PrimitiveID = 40 + 10 * gl_InvocationID + id[0];
        EmitVertex();
    }
}
