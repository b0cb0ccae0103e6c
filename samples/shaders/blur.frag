#version 450
// One direction of a Gaussian of nine taps, in five filtered reads.
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform sampler2D source;
layout(push_constant) uniform Push {
    vec4 step; // one texel along the direction in xy
} push;

void main() {
    vec2 near = push.step.xy * 1.3846154, far = push.step.xy * 3.2307692;
    vec3 sum = texture(source, uv).rgb * 0.2270270;
    sum += (texture(source, uv + near).rgb + texture(source, uv - near).rgb) * 0.3162162;
    sum += (texture(source, uv + far).rgb + texture(source, uv - far).rgb) * 0.0702703;
    color = vec4(sum, 1.0);
}
