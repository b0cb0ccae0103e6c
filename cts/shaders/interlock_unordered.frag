#version 450
// Environment: vulkan1.1
// Fragments of a pixel add to its word one after the other, in any order.
#extension GL_ARB_fragment_shader_interlock : require
layout(pixel_interlock_unordered) in;
layout(set = 0, binding = 0, std430) coherent buffer Words { uint words[]; };
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;
void main() {
    uvec2 at = uvec2(gl_FragCoord.xy);
    uint index = at.y * 16u + at.x;
    beginInvocationInterlockARB();
    words[index] = words[index] + uint(color.r * 255.0 + 0.5);
    endInvocationInterlockARB();
    result = color;
}
