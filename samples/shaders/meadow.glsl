// The light of the meadow: a low sun, a sky, and the mist between things and the eye.
const vec3 SUN = vec3(0.2357, 0.1473, -0.9606);
const vec3 SUNLIGHT = vec3(3.4, 1.9, 0.85);

vec3 sky(vec3 ray) {
    float up = clamp(ray.y, 0.0, 1.0), toward = max(dot(ray, SUN), 0.0);
    vec3 dusk = mix(vec3(1.05, 0.52, 0.24), vec3(0.14, 0.22, 0.42), smoothstep(0.0, 0.42, up));
    float glow = 0.30 * pow(toward, 12.0) + 0.9 * pow(toward, 160.0) + 14.0 * smoothstep(0.99925, 0.99965, toward);
    return dusk + vec3(1.0, 0.62, 0.28) * glow;
}

// A colour as it is seen at the end of a way.
vec3 misted(vec3 color, vec3 way) {
    float far = length(way);
    vec3 ray = way / far;
    vec3 mist = sky(normalize(vec3(ray.x, max(ray.y, 0.02), ray.z)));
    return mix(min(mist, vec3(2.0)) * 0.75, color, exp(-far * 0.085));
}
