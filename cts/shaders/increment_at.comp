#version 450
// Writes the words at one address plus one to another address.
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 64) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint words[]; };
layout(push_constant) uniform Push { Words source; Words target; };
void main() { target.words[gl_GlobalInvocationID.x] = source.words[gl_GlobalInvocationID.x] + 1u; }
