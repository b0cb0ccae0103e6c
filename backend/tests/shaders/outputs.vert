#version 450
// Outputs of every kind: blocks, matrices, arrays with dynamic indices, clip and cull distances, point size.
layout(location = 0) in mat4 transform;
layout(location = 4) in ivec2 ints;
layout(location = 5) in uint number;
layout(location = 0) out Block { vec4 a; flat uint b; noperspective vec2 c; float d[3]; mat3 m; } block;
layout(location = 11) out vec3 list[4];
out gl_PerVertex { vec4 gl_Position; float gl_PointSize; float gl_ClipDistance[3]; float gl_CullDistance[2]; };
void main() {
    for (int i = 0; i < 4; i++) list[i] = vec3(i, gl_VertexIndex, gl_InstanceIndex);
    list[ints.x & 3].y = 2.0;
    block.a = transform[ints.y & 3]; block.b = number; block.c = vec2(1.0); block.d[number % 3u] = 4.0; block.m = mat3(transform);
    gl_Position = transform * vec4(list[0], 1.0);
    gl_PointSize = 3.0;
    for (int i = 0; i < 3; i++) gl_ClipDistance[i] = dot(transform[i], gl_Position);
    gl_CullDistance[1] = 1.0;
}
