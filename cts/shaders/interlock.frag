#version 450
// Environment: vulkan1.1
// What the fragments of a pixel do to its word depends on their order.
#extension GL_ARB_fragment_shader_interlock : require
layout(pixel_interlock_ordered) in;
layout(set = 0, binding = 0, std430) coherent buffer Words { uint words[]; };
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;
void main() {
    uvec2 at = uvec2(gl_FragCoord.xy);
    uint index = at.y * 16u + at.x;
    beginInvocationInterlockARB();
    words[index] = words[index] * 3u + uint(color.r * 255.0 + 0.5);
    endInvocationInterlockARB();
    result = color;
}
