#version 450
// Texture, one warm and one cool light, a soft contact shadow and fog.
layout(location = 0) in vec3 world;
layout(location = 1) in vec3 facing;
layout(location = 2) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform Frame {
    mat4 view_proj;
    vec4 eye;
} frame;
layout(set = 0, binding = 1) uniform sampler2D albedo;
layout(push_constant) uniform Push {
    mat4 model;
    vec4 look;
} push;

void main() {
    vec3 n = normalize(facing);
    vec3 view = normalize(frame.eye.xyz - world);
    vec3 sun = normalize(vec3(0.5, 0.8, 0.45));
    float light = max(dot(n, sun), 0.0);
    float shine = pow(max(dot(n, normalize(sun + view)), 0.0), 48.0) * push.look.y;
    vec3 base = texture(albedo, uv).rgb;
    float shadow = 1.0 - push.look.z * 0.75 * exp(-0.55 * dot(world.xz, world.xz));
    vec3 ambient = mix(vec3(0.10, 0.11, 0.16), vec3(0.20, 0.24, 0.34), n.y * 0.5 + 0.5);
    vec3 lit = base * (ambient + vec3(1.15, 1.0, 0.82) * light) * shadow + vec3(1.0, 0.9, 0.7) * shine;
    float far = smoothstep(push.look.x, 30.0, length(frame.eye.xyz - world));
    color = vec4(mix(lit, vec3(0.42, 0.50, 0.62), far), 1.0);
}
