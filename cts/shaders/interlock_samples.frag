#version 450
// Environment: vulkan1.1
// The same for each of four samples of a pixel.
#extension GL_ARB_fragment_shader_interlock : require
layout(sample_interlock_ordered) in;
layout(set = 0, binding = 0, std430) coherent buffer Words { uint words[]; };
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;
void main() {
    uvec2 at = uvec2(gl_FragCoord.xy);
    uint index = (at.y * 16u + at.x) * 4u + uint(gl_SampleID);
    beginInvocationInterlockARB();
    words[index] = words[index] * 3u + uint(color.r * 255.0 + 0.5);
    endInvocationInterlockARB();
    result = color;
}
