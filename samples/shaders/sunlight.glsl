// Light of the street: the sun with its shadow map, the sky, and haze. Needs common.glsl and
// frame.glsl.
layout(set = 0, binding = 1) uniform sampler2DShadow map;

const vec3 SUN = vec3(0.6194, 0.5795, 0.5295);
const vec3 SUN_LIGHT = vec3(3.1, 2.5, 1.8);

// Returns the part of the sun that is visible at a place: nine comparisons, each of which filters
// four texels.
float sun_visible(vec3 world, vec3 n) {
    vec4 p = frame.light * vec4(world + n * 0.06, 1.0);
    vec2 step = 1.2 / vec2(textureSize(map, 0));
    float sum = 0.0;
    for (int i = 0; i < 9; i++) {
        vec2 at = p.xy * 0.5 + 0.5 + vec2(i % 3 - 1, i / 3 - 1) * step;
        sum += texture(map, vec3(at, min(p.z - 0.0004, 1.0)));
    }
    return sum / 9.0;
}

vec3 sky_light(vec3 d) {
    vec3 sky = mix(vec3(0.78, 0.86, 0.95), vec3(0.16, 0.34, 0.72), pow(clamp(d.y, 0.0, 1.0), 0.55));
    sky = mix(sky, vec3(0.30, 0.28, 0.26), smoothstep(0.02, -0.12, d.y));
    return sky + vec3(1.2, 0.8, 0.4) * pow(max(dot(d, SUN), 0.0), 12.0);
}

// Light of the sky and of the street below, dimmer between the walls near the ground.
vec3 ambient(vec3 world, vec3 n) {
    float open = mix(0.34, 1.0, smoothstep(0.0, 22.0, world.y));
    vec3 above = mix(vec3(0.40, 0.50, 0.66), vec3(0.52, 0.60, 0.72), n.y * 0.5 + 0.5) * open;
    vec3 bounce = vec3(0.30, 0.25, 0.19) * (0.5 - 0.5 * n.y) + vec3(0.16, 0.13, 0.09) * max(dot(n, vec3(1.0, 0.0, 0.1)) * -0.5 + 0.5, 0.0);
    return above + bounce;
}

vec4 finish(vec3 light, vec3 world) {
    vec3 ray = world - frame.eye.xyz;
    float distance = length(ray);
    float haze = 1.0 - exp(-0.0042 * max(distance - 12.0, 0.0));
    vec3 air = mix(vec3(0.74, 0.80, 0.88), vec3(1.05, 0.92, 0.74), pow(max(dot(ray / distance, SUN) * 0.5 + 0.5, 0.0), 3.0));
    return vec4(film(mix(light, air, haze) * 0.80), 1.0);
}
