// The ground of the fjord and its light: a low sun from the left, a sky, and the air between things and the eye.
const vec3 SUN = vec3(-0.7071, 0.2546, -0.6597);
const vec3 SUNLIGHT = vec3(3.3, 1.75, 0.85);
const float HIGHEST = 3.2;

float flat_noise(vec2 p) {
    ivec3 i = ivec3(floor(p.x), 0, floor(p.y));
    vec2 f = fract(p);
    f = f * f * f * (f * (f * 6.0 - 15.0) + 10.0);
    float near = mix(hash3(i), hash3(i + ivec3(1, 0, 0)), f.x);
    float far = mix(hash3(i + ivec3(0, 0, 1)), hash3(i + ivec3(1, 0, 1)), f.x);
    return mix(near, far, f.y);
}

// Ridges: as many octaves as are asked for.
float ridges(vec2 p, int octaves) {
    float sum = 0.0, size = 0.5, weight = 1.0;
    for (int i = 0; i < octaves; i++) {
        float ridge = 1.0 - abs(flat_noise(p) * 2.0 - 1.0);
        ridge *= ridge * weight;
        sum += ridge * size;
        weight = clamp(ridge * 1.6, 0.0, 1.0);
        size *= 0.5;
        p = mat2(1.62, 1.18, -1.18, 1.62) * p + 3.7;
    }
    return sum;
}

// How high the ground is; water lies at 0.
float height(vec2 p, int octaves) {
    float channel = 1.5 * (flat_noise(vec2(p.y * 0.16, 9.0)) - 0.5) - 0.35 * flat_noise(vec2(p.y * 0.55, 4.0));
    float away = abs(p.x - channel);
    float bank = smoothstep(0.35, 3.4, away);
    // Where the fjord ends.
    bank = max(bank, smoothstep(-9.5, -13.5, p.y) * 0.75);
    return bank * (0.35 + 3.4 * ridges(p * 0.42, octaves)) + 0.22 * flat_noise(p * 1.3) - 0.24;
}

vec3 sky(vec3 ray) {
    float up = clamp(ray.y, 0.0, 1.0), toward = max(dot(ray, SUN), 0.0);
    vec3 dusk = mix(vec3(0.98, 0.50, 0.30), vec3(0.15, 0.20, 0.42), smoothstep(0.0, 0.5, up));
    dusk = mix(dusk, vec3(0.30, 0.28, 0.48), smoothstep(0.35, -0.5, dot(normalize(ray.xz), normalize(SUN.xz))) * 0.6);
    return dusk + vec3(1.0, 0.6, 0.3) * (0.35 * pow(toward, 10.0) + 1.0 * pow(toward, 220.0));
}

// A colour as it is seen at the end of a way.
vec3 aired(vec3 color, vec3 way) {
    float far = length(way);
    vec3 ray = way / far;
    vec3 air = sky(normalize(vec3(ray.x, max(ray.y, 0.03), ray.z))) * vec3(0.55, 0.60, 0.74);
    return mix(min(air, vec3(1.6)), color, exp(-far * 0.045));
}
