#version 450
// Counts the workgroups of a dispatch, and stores the largest workgroup id of each axis plus 1.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) buffer A { uint count; uint largest[3]; };
void main() {
    atomicAdd(count, 1);
    for (int axis = 0; axis < 3; axis++) atomicMax(largest[axis], gl_WorkGroupID[axis] + 1);
}
