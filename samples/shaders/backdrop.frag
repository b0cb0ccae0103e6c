#version 450
// A vertical gradient with a glow, as the background of a scene.
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(push_constant) uniform Push {
    vec4 top;
    vec4 bottom;
    vec4 glow; // colour, and radius in w
    vec4 place; // centre of the glow in xy, aspect ratio in z
} push;

void main() {
    vec2 d = (uv - push.place.xy) * vec2(push.place.z, 1.0);
    float glow = exp(-dot(d, d) / (push.glow.w * push.glow.w));
    color = vec4(mix(push.top.rgb, push.bottom.rgb, uv.y) + push.glow.rgb * glow, 1.0);
}
