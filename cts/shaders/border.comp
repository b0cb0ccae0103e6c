#version 450
// A texel outside of an image: the border colour of whichever sampler the set has.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) uniform sampler2D image;
layout(set = 0, binding = 1, std430) buffer Out { vec4 texel; } o;
void main() {
    o.texel = textureLod(image, vec2(5.0), 0.0);
}
