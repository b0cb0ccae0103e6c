#version 450
// Each invocation leaves the vertices of its primitive in a record of its own: how it was called, then a number for each vertex.
layout(lines_adjacency) in;
layout(points, max_vertices = 1) out;
layout(location = 0) in int id[];
layout(location = 1) in vec4 values[][2];
layout(set = 0, binding = 0) buffer Records { uint calls; int records[]; };
void main() {
    atomicAdd(calls, 1u);
    int at = (gl_PrimitiveIDIn + gl_InvocationID) * 8;
    records[at] = gl_PrimitiveIDIn;
    records[at + 1] = gl_InvocationID;
    for (int vertex = 0; vertex < 4; vertex++) {
        vec4 position = gl_in[vertex].gl_Position;
        int number = id[vertex] % 1000;
        vec4 place = vec4(float(number % 7) * 0.25 - 0.75, float(number % 5) * 0.25 - 0.5, 0.5, 1.0);
        int odd = number & 1;
        vec4 expected = odd == 0 ? vec4(number, 0.5, id[vertex] / 1000, -1.0) : vec4(2.0, float(number) + 0.25, 4.0, 8.0);
        bool good = position == place && values[vertex][odd] == expected;
        records[at + 2 + vertex] = good ? id[vertex] : -7;
    }
}
