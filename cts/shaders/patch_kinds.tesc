#version 450
// Patch variables of every shape: blocks, structures, matrices, arrays of arrays, parts of locations, doubles.
layout(vertices = 2) out;
struct Pair { float single; dvec2 wide; };
layout(location = 0) patch out Block { vec3 first; int second[3]; } block;
layout(location = 4) patch out mat2x3 matrix;
layout(location = 6) patch out Pair pair;
layout(location = 8, component = 1) patch out vec2 inside;
layout(location = 8, component = 3) patch out float last;
layout(location = 9) patch out float nested[2][2];
layout(location = 13) out double doubles[];
layout(location = 14) out Each { vec2 place; int number; } each[];
void main() {
    doubles[gl_InvocationID] = double(gl_InvocationID) + 0.25LF;
    each[gl_InvocationID].place = vec2(gl_InvocationID, gl_PrimitiveID);
    each[gl_InvocationID].number = 40 + gl_InvocationID;
    if (gl_InvocationID == 1) {
        block.first = vec3(1.0, 2.0, 3.0);
        for (int index = 0; index < 3; index++) block.second[index] = index + 10;
        matrix = mat2x3(1.0, 2.0, 3.0, 4.0, 5.0, 6.0);
        pair = Pair(7.0, dvec2(0.1LF, 1e200LF));
        inside = vec2(8.0, 9.0);
        last = 10.0;
        nested = float[2][2](float[2](11.0, 12.0), float[2](13.0, 14.0));
        gl_TessLevelOuter = float[4](1.0, 1.0, 1.0, 1.0);
        gl_TessLevelInner = float[2](1.0, 1.0);
    }
}
