#version 450
// Texels of a buffer, seen as floats, signed and unsigned integers.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0) uniform samplerBuffer floats;
layout(set = 0, binding = 1) uniform isamplerBuffer signeds;
layout(set = 0, binding = 2) uniform usamplerBuffer unsigneds;
layout(set = 0, binding = 3, std430) buffer Out { uvec4 words[]; };
void main() {
    int texel = int(gl_GlobalInvocationID.x);
    words[texel * 3] = floatBitsToUint(texelFetch(floats, texel));
    words[texel * 3 + 1] = uvec4(texelFetch(signeds, texel));
    words[texel * 3 + 2] = texelFetch(unsigneds, texel);
}
