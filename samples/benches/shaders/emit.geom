#version 450
// A strip of vertices for each point, on a part of a circle. The benchmark replaces the declared
// maximum.
layout(points) in;
layout(triangle_strip, max_vertices = 256) out;
layout(push_constant) uniform Size { uint vertices, steps; };
layout(location = 0) flat in uint id[];
layout(location = 0) out vec4 color;
layout(location = 1) out vec3 normal;

void main() {
    vec2 middle = vec2(id[0] % 64u, id[0] / 64u % 64u) / 32.0 - 1.0;
    for (uint vertex = 0u; vertex < vertices; vertex++) {
        float turn = float(vertex / 2u) / float(vertices), far = (vertex & 1u) == 0u ? 0.002 : 0.005;
        vec2 way = vec2(1.0 - turn * turn, 2.0 * turn) / (1.0 + turn * turn);
        for (uint step = 0u; step < steps; step++) {
            way = (way + way.yx * vec2(0.01, -0.01)) / (1.0 + 0.0001 * dot(way, way));
        }
        color = vec4(way * 0.5 + 0.5, far * 80.0, 1.0);
        normal = vec3(way, far);
        gl_Position = vec4(middle + way * far, 0.5, 1.0);
        EmitVertex();
    }
}
