#version 450
// The texels of an image.
layout(set = 0, binding = 0) uniform sampler2DArray image;
layout(set = 0, binding = 1) buffer Texels { vec4 texels[]; };
void main() {
    vec2 place = (vec2(gl_GlobalInvocationID.xy) + 0.5) / vec2(gl_NumWorkGroups.xy);
    uint index = gl_GlobalInvocationID.y * gl_NumWorkGroups.x + gl_GlobalInvocationID.x;
    texels[index] = textureLod(image, vec3(place, 0.0), 0.0);
}
