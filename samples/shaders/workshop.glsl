// Light of the hall: two rows of tubes under the roof. Needs common.glsl and frame.glsl.
layout(location = 0) in vec3 world;
layout(location = 1) in vec3 facing;
layout(location = 2) in vec4 tint;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 1) uniform sampler2D wear;

// Returns the texture projected along the three axes, weighted by the normal.
vec3 worn(vec3 n, float scale) {
    vec3 weight = n * n;
    vec3 p = world * scale;
    return texture(wear, p.yz).rgb * weight.x + texture(wear, p.xz).rgb * weight.y + texture(wear, p.xy).rgb * weight.z;
}

// Returns the light that a surface reflects to the eye. `metal` is 0 to 1.
vec3 lit(vec3 n, vec3 base, float rough, float metal) {
    vec3 view = normalize(frame.eye.xyz - world);
    vec3 f0 = mix(vec3(0.04), base, metal);
    vec3 diffuse = base * (1.0 - metal) * 0.32;
    float a2 = rough * rough * rough * rough;
    vec3 sum = vec3(0.0);
    // The four nearest lamps of each row; lamps stand 3.5 m apart.
    float first = floor(-world.z / 3.5) - 1.0;
    for (int i = 0; i < 8; i++) {
        vec3 lamp = vec3(i < 4 ? -3.2 : 1.4, 6.2, -1.7 - 3.5 * (first + float(i & 3)));
        // The nearest point of the tube.
        lamp.z = clamp(world.z, lamp.z - 0.7, lamp.z + 0.7);
        vec3 to = lamp - world;
        float d2 = dot(to, to);
        vec3 l = to * inversesqrt(d2), h = normalize(l + view);
        float nl = max(dot(n, l), 0.0), nh = max(dot(n, h), 0.0), vh = max(dot(view, h), 0.0);
        float q = nh * nh * (a2 - 1.0) + 1.0;
        vec3 shine = (f0 + (1.0 - f0) * pow(1.0 - vh, 5.0)) * a2 / (q * q + 1e-4) * 0.25;
        sum += (diffuse + shine) * nl / (0.6 + d2) * 10.0;
    }
    vec3 mirror = reflect(-view, n);
    vec3 around = mix(vec3(0.10, 0.10, 0.11), vec3(0.42, 0.44, 0.48), smoothstep(-0.4, 0.8, mirror.y));
    // Reflections of the tubes in smooth surfaces.
    around += vec3(1.6, 1.5, 1.35) * smoothstep(0.93, 0.98, abs(mirror.y)) * (1.0 - rough);
    sum += around * (f0 + (1.0 - f0) * pow(1.0 - max(dot(n, view), 0.0), 5.0) * (1.0 - rough));
    sum += diffuse * mix(vec3(0.15, 0.14, 0.13), vec3(0.34, 0.36, 0.40), n.y * 0.5 + 0.5);
    return sum;
}

vec4 shown(vec3 light) {
    vec3 ray = world - frame.eye.xyz;
    return vec4(mix(light, vec3(0.30, 0.33, 0.36), 1.0 - exp(-0.008 * length(ray))), 1.0);
}
