#version 450
// Memory layouts: std140 and std430, matrices of both majors, arrays of structures, dynamic indices, shared memory.
layout(local_size_x = 4, local_size_y = 4) in;
struct Item { vec3 position; float weight; mat2x3 transform; int tags[3]; };
layout(set = 0, binding = 0, std430) buffer Out { float words[]; };
layout(set = 0, binding = 1, std140) uniform In { Item items[2]; layout(row_major) mat3 rows; float tail; };
layout(push_constant) uniform Push { ivec2 offset; float scale; };
layout(constant_id = 3) const int FACTOR = 2;
shared float exchange[16];

void main() {
    uint lane = gl_LocalInvocationIndex;
    exchange[lane] = float(lane * lane);
    barrier();
    float other = exchange[15u - lane];
    Item item = items[lane & 1u];
    vec3 moved = item.transform * vec2(1.0, 2.0) + item.position;
    float picked = rows[lane % 3u][(lane / 3u) % 3u];
    mat3 inverted = inverse(mat3(2, 0, 0, 0, 4, 0, 1, 0, 8));
    words[lane] = other + moved.x * 1000.0 + item.weight;
    words[16u + lane] = picked + float(item.tags[lane % 3u]) * scale + float(offset.y);
    words[32u + lane] = inverted[lane % 3u][lane % 3u] * float(FACTOR) + tail + dot(moved, rows * vec3(1.0));
}
