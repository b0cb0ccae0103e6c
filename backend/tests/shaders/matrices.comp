#version 450
// Matrices: products of every kind, transpose, outer product, determinant, inverse, component-wise product, dynamic columns.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { uint words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { uint data[]; };
uint lane = gl_LocalInvocationIndex;
void put(uint at, float x) { words[at] = floatBitsToUint(x); }
void main() {
    float f = float(lane);
    mat2x3 a = mat2x3(1, 2, 3, 4, 5, f);
    mat3x2 b = transpose(a);
    mat2 c = b * a;
    mat3 d = a * b + mat3(1.0) * 2.0;
    vec3 e = a * vec2(2, 3);
    vec2 g = vec3(1, f, 2) * a;
    mat3 o = outerProduct(vec3(1, 2, 3), vec3(4, 5, f));
    mat4 m = mat4(2, 0, 0, 0, 1, 4, 0, 0, 0, 0, 8, 0, f, 1, 2, 1);
    mat4 p = m * inverse(m);
    mat2 w = matrixCompMult(c, mat2(1, 2, 3, 4));
    uint at = lane * 10u;
    put(at, c[0][0] + c[0][1] * 10.0 + c[1][0] * 100.0 + c[1][1]);
    put(at + 1u, determinant(d));
    put(at + 2u, e.x + e.y * 10.0 + e.z * 100.0);
    put(at + 3u, g.x + g.y * 1000.0);
    put(at + 4u, o[lane % 3u][lane / 3u % 3u]);
    put(at + 5u, determinant(m));
    float off = 0.0;
    for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) off += abs(p[i][j] - (i == j ? 1.0 : 0.0));
    put(at + 6u, off);
    put(at + 7u, w[0].x + w[0].y + w[1].x + w[1].y);
    m[lane & 3u] = vec4(9.0); m[1][lane & 3u] = 5.0;
    put(at + 8u, m[0].x + m[1].y * 10.0 + m[2].z * 100.0 + m[3].w * 1000.0);
    mat2 n = -c / 2.0;
    put(at + 9u, n[0][0] + (++n)[1][1]);
}
