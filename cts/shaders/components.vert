#version 450
// As many components as stages may hand over: 124, and the position.
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) out vec4 words[31];
void main() {
    vec2 corner = vec2[](vec2(0, 0), vec2(1, 0), vec2(0, 1), vec2(0, 1), vec2(1, 0), vec2(1, 1))[gl_VertexIndex % 6];
    gl_Position = vec4(mix(rect.xy, rect.zw, corner), extra.x, 1.0);
    for (int i = 0; i < 31; i++) {
        words[i] = vec4(float(i), corner.x * float(i), corner.y, 1.0);
    }
}
