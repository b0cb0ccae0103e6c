#version 450
// Images by numbers that constants give.
#extension GL_EXT_nonuniform_qualifier : require
#extension GL_EXT_samplerless_texture_functions : require
layout(local_size_x = 1) in;
layout(push_constant) uniform Numbers { uint numbers[3]; };
layout(set = 0, binding = 0, std430) buffer Out { uint words[3]; } o;
layout(set = 0, binding = 1) uniform utexture2D images[];
void main() {
    for (uint i = 0; i < 3; i++) {
        o.words[i] = texelFetch(images[numbers[i]], ivec2(1, 0), 0).x;
    }
}
