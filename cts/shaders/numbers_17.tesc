#version 450
// Invocations see what the others of their patch wrote, and leave records of what they were given.
layout(vertices = 17) out;
layout(location = 0) in int id[];
layout(location = 1) in vec4 values[][2];
layout(location = 0) out ivec2 seen[];
layout(location = 1) out vec4 wide[][2];
layout(location = 4) patch out ivec4 sums[3];
layout(set = 0, binding = 0) buffer Records { uint calls; int records[]; };
const int COUNT = 17;
void main() {
    int own = gl_InvocationID, from = own % gl_PatchVerticesIn, number = id[from];
    seen[gl_InvocationID] = ivec2(number, -1);
    wide[gl_InvocationID] = values[from];
    gl_out[gl_InvocationID].gl_Position = gl_in[from].gl_Position;
    barrier();
    int next = seen[(own + 1) % COUNT].x;
    barrier();
    seen[gl_InvocationID].y = next;
    barrier();
    if (own == COUNT - 1) {
        int sum = 0;
        for (int other = 0; other < COUNT; other++) sum += seen[other].y;
        sums[1] = ivec4(sum, COUNT, gl_PatchVerticesIn, gl_PrimitiveID);
        gl_TessLevelOuter = float[4](1.0, 1.0, 1.0, 1.0);
        gl_TessLevelInner = float[2](1.0, 1.0);
    }
    barrier();
    atomicAdd(calls, 1u);
    int at = (gl_PrimitiveID * 32 + own) * 4, odd = number & 1;
    vec4 expected = odd == 0 ? vec4(number, 0.5, 0.0, -1.0) : vec4(2.0, float(number) + 0.25, 4.0, 8.0);
    vec4 place = vec4(float(number % 7) * 0.25 - 0.75, float(number % 5) * 0.25 - 0.5, 0.5, 1.0);
    records[at] = number;
    records[at + 1] = next;
    records[at + 2] = sums[(own & 1) * 0 + 1].x;
    records[at + 3] = values[from][odd] == expected && gl_in[from].gl_Position == place ? gl_PatchVerticesIn : -7;
}
