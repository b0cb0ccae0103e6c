#version 450
// Whether all of it is there: white if it is, else what is wrong as a bit of red.
layout(quads, equal_spacing, ccw) in;
struct Pair { float single; dvec2 wide; };
layout(location = 0) patch in Block { vec3 first; int second[3]; } block;
layout(location = 4) patch in mat2x3 matrix;
layout(location = 6) patch in Pair pair;
layout(location = 8, component = 1) patch in vec2 inside;
layout(location = 8, component = 3) patch in float last;
layout(location = 9) patch in float nested[2][2];
layout(location = 13) in double doubles[];
layout(location = 14) in Each { vec2 place; int number; } each[];
layout(location = 0) out vec4 color;
void main() {
    int wrong = 0;
    int zero = int(gl_TessCoord.x * 0.5);
    if (block.first != vec3(1.0, 2.0, 3.0)) wrong |= 1;
    for (int index = 0; index < 3; index++) if (block.second[index + zero] != index + 10) wrong |= 2;
    if (matrix[1 + zero] != vec3(4.0, 5.0, 6.0)) wrong |= 4;
    if (pair.single != 7.0 || pair.wide != dvec2(0.1LF, 1e200LF)) wrong |= 8;
    if (inside != vec2(8.0, 9.0) || last != 10.0) wrong |= 16;
    for (int row = 0; row < 2; row++)
        for (int column = 0; column < 2; column++) if (nested[row][column] != 11.0 + row * 2 + column) wrong |= 32;
    for (int vertex = 0; vertex < 2; vertex++) {
        if (doubles[vertex] != double(vertex) + 0.25LF) wrong |= 64;
        if (each[vertex].place != vec2(vertex, gl_PrimitiveID) || each[vertex].number != 40 + vertex) wrong |= 128;
    }
    color = wrong == 0 ? vec4(1.0) : vec4(float(wrong) / 255.0, 0.0, 0.0, 1.0);
    gl_Position = vec4(gl_TessCoord.xy * 2.0 - 1.0, 0.5, 1.0);
}
