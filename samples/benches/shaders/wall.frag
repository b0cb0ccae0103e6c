#version 450
// Light on bricks.
layout(location = 0) in vec3 normal;
layout(location = 1) in vec2 uv;
layout(location = 2) in vec3 place;
layout(location = 0) out vec4 color;
void main() {
    vec2 brick = fract(uv);
    float mortar = step(0.05, min(brick.x, brick.y));
    vec3 light = normalize(vec3(0.4, -0.6, -0.7) - 0.2 * place);
    float diffuse = max(dot(normalize(normal), light), 0.0);
    color = vec4(mix(vec3(0.6), vec3(0.7, 0.3, 0.2), mortar) * (0.2 + 0.8 * diffuse), 1.0);
}
