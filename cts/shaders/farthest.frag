#version 450
// How far values change to the farthest places that can be asked for, two pixels away: a place in the picture is in 16ths.
layout(location = 0) in vec4 color;
layout(location = 1) in vec2 uv;
layout(location = 0) out vec4 result;
void main() {
    vec2 low = interpolateAtOffset(uv, vec2(-2.0, -2.0));
    vec2 high = interpolateAtOffset(uv, vec2(2.0, 2.0));
    result = vec4((uv - low) * 4.0, (high - uv) * 4.0);
}
