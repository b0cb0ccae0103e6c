#version 450
// What geometry shaders have: inputs of several vertices by constant and by variable, blocks, strips that end, invocations.
layout(triangles, invocations = 2) in;
layout(triangle_strip, max_vertices = 12) out;
layout(push_constant) uniform Push { vec4 scale; int count; };
layout(set = 0, binding = 0) buffer Data { int words[]; };
layout(location = 0) in Inputs { vec4 color; flat int kind[3]; } vertices[];
layout(location = 4) in dvec3 far[];
layout(location = 0) out vec4 color;
layout(location = 1) flat out dvec2 wide;
vec4 moved(int vertex, float by) {
    return gl_in[vertex].gl_Position * scale + vec4(by, gl_in[vertex].gl_PointSize, 0.0, 0.0);
}
void main() {
    for (int strip = 0; strip < count; strip++) {
        for (int vertex = 0; vertex < 3; vertex++) {
            int kind = vertices[vertex].kind[strip % 3];
            if (kind == gl_InvocationID) continue;
            gl_Position = moved(vertex, float(strip) * 0.25);
            gl_PrimitiveID = gl_PrimitiveIDIn + words[kind & 15];
            gl_Layer = kind;
            color = vertices[(vertex + 1) % 3].color;
            wide = far[vertex].zx;
            EmitVertex();
        }
        EndPrimitive();
    }
    if (words[0] == 7) return;
    gl_Position = vec4(0.0);
    color = vertices[0].color;
    EmitVertex();
}
