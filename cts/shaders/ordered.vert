#version 450
// Rectangles of whole pixels that lie on each other, one an instance.
layout(location = 0) flat out uint number;
void main() {
    const uint size = 16;
    vec2 low = vec2(gl_InstanceIndex % 7, gl_InstanceIndex % 3), high = vec2(size - gl_InstanceIndex % 5, size - gl_InstanceIndex % 4);
    vec2 corner = vec2[](vec2(0, 0), vec2(1, 0), vec2(0, 1), vec2(0, 1), vec2(1, 0), vec2(1, 1))[gl_VertexIndex];
    gl_Position = vec4(mix(low, high, corner) * 2.0 / size - 1.0, 0.0, 1.0);
    number = gl_InstanceIndex;
}
