#version 450
// A strip of 256 vertices for each point, on a spiral.
layout(points) in;
layout(triangle_strip, max_vertices = 256) out;
layout(location = 0) flat in uint id[];
layout(location = 0) out vec4 color;
layout(location = 1) out vec3 normal;

void main() {
    vec2 middle = vec2(id[0] % 64u, id[0] / 64u % 64u) / 32.0 - 1.0;
    for (int vertex = 0; vertex < 256; vertex++) {
        float turn = float(vertex / 2) * (6.0 / float(256)), far = (vertex & 1) == 0 ? 0.02 : 0.05;
        vec2 way = vec2(cos(turn), sin(turn));
        color = vec4(way * 0.5 + 0.5, far * 8.0, 1.0);
        normal = vec3(way, far);
        gl_Position = vec4(middle + way * far, 0.5, 1.0);
        EmitVertex();
    }
}
