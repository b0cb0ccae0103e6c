#version 450
// Row-major and column-major matrices in std140 and std430, nested structures, written and read dynamically.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { uint data[]; };
uint lane = gl_LocalInvocationIndex;
struct Inner { mat3x2 m; float f; };
layout(set = 0, binding = 2, std140) uniform U { layout(row_major) mat2x3 r; layout(column_major) mat2x3 c; layout(row_major) Inner inner[2]; };
layout(set = 0, binding = 3, std430) buffer B { layout(row_major) mat4x3 rows; mat4x3 columns; };
void main() {
    uint at = lane * 4u;
    words[at] = floatBitsToUint(r[lane & 1u][lane % 3u]);
    words[at + 1u] = floatBitsToUint(c[lane & 1u][lane % 3u]);
    Inner i = inner[lane & 1u];
    words[at + 2u] = floatBitsToUint(i.m[lane % 3u].x + i.m[lane % 3u].y * 100.0 + i.f * 10000.0);
    words[at + 3u] = floatBitsToUint(dot(inner[1].m[lane % 3u], vec2(1.0, 2.0)));
    if (lane < 4u) rows[lane] = vec3(lane, lane + 10u, lane + 20u);
    if (lane < 3u) columns[lane].y = float(lane);
    if (lane == 4u) columns[3] = vec3(7.0, 8.0, 9.0);
}
