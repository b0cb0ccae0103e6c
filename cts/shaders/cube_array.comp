#version 450
// Adds to each texel of a storage cube array a number that says its layer and face.
layout(local_size_x = 2, local_size_y = 2) in;
layout(set = 0, binding = 0, r32ui) uniform uimageCubeArray cubes;

void main() {
    ivec3 at = ivec3(gl_GlobalInvocationID);
    uint before = imageLoad(cubes, at).x;
    imageStore(cubes, at, uvec4(before + 1000u * uint(at.z)));
}
