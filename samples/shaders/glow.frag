#version 450
// Light of flames and dust, added to the colour behind them.
layout(location = 0) in vec3 world;
layout(location = 1) in vec2 spot;
layout(location = 2) in vec4 tint;
layout(location = 0) out vec4 color;

void main() {
    float r = dot(spot, spot);
    if (r > 1.0) {
        discard;
    }
    float fade = (1.0 - r) * (1.0 - r);
    color = vec4(tint.rgb * tint.a * fade * (0.9 + 0.1 * fract(world.x * 7.0)), 1.0);
}
