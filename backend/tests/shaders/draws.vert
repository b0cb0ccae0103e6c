#version 460
// Environment: vulkan1.1
// The built-ins that number draws.
#extension GL_EXT_multiview : require
#extension GL_EXT_device_group : require
layout(location = 0) out uvec4 numbers;
layout(location = 1) out uvec2 others;
void main() {
    gl_Position = vec4(0.0);
    numbers = uvec4(gl_BaseVertex, gl_BaseInstance, gl_DrawID, gl_VertexIndex);
    others = uvec2(gl_ViewIndex, gl_DeviceIndex + gl_InstanceIndex);
}
