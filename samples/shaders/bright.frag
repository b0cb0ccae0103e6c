#version 450
// Halves the picture and keeps what is brighter than the screen can show.
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform sampler2D source;
layout(push_constant) uniform Push {
    vec4 step; // one source texel in xy, threshold in z
} push;

void main() {
    vec3 sum = texture(source, uv + push.step.xy).rgb + texture(source, uv - push.step.xy).rgb;
    sum += texture(source, uv + push.step.xy * vec2(1.0, -1.0)).rgb + texture(source, uv + push.step.xy * vec2(-1.0, 1.0)).rgb;
    sum *= 0.25;
    float peak = max(sum.r, max(sum.g, sum.b));
    color = vec4(sum * max(peak - push.step.z, 0.0) / max(peak, 1e-4), 1.0);
}
