// The apothecary's surroundings: a tall window behind the shelves, and the room behind the viewer.
// Needs common.glsl and frame.glsl.

// Returns the colour of the garden that is seen, out of focus, through a point of the window.
vec3 garden(vec2 p) {
    vec3 sky = mix(vec3(1.9, 1.75, 1.45), vec3(1.1, 1.45, 1.9), smoothstep(1.5, 3.0, p.y));
    float trees = 1.55 + 0.35 * noise(vec3(p.x * 1.3, 2.0, 0.0)) + 0.12 * noise(vec3(p.x * 4.0, 5.0, 0.0));
    float leaf = noise(vec3(p * 3.1, 1.0)) * 0.6 + noise(vec3(p * 7.3, 4.0)) * 0.4;
    vec3 green = mix(vec3(0.10, 0.22, 0.07), vec3(0.85, 0.95, 0.35), smoothstep(0.35, 0.8, leaf));
    vec3 seen = mix(green, sky, smoothstep(-0.14, 0.14, p.y - trees));
    return mix(seen, vec3(0.55, 0.62, 0.30) * (0.6 + 0.5 * leaf), smoothstep(1.0, 0.7, p.y));
}

// Returns the colour of the window with its bars, and of the wall around it.
vec3 window(vec2 p) {
    vec2 cell = vec2(p.x / 0.54 + 0.5, (p.y - 0.62) / 0.52);
    vec2 edge = abs(fract(cell) - 0.5);
    float bar = smoothstep(0.455, 0.475, max(edge.x, edge.y));
    float outside = max(abs(p.x) - 1.62, max(p.y - 2.7, 0.62 - p.y));
    vec3 pane = garden(p) * (0.86 + 0.2 * noise(vec3(p * 5.0, 9.0)));
    vec3 wall = vec3(0.085, 0.06, 0.042) * (0.8 + 0.4 * noise(vec3(p * 3.0, 2.0)));
    return mix(mix(pane, vec3(0.05, 0.035, 0.022), bar), wall, smoothstep(-0.01, 0.01, outside));
}

// Returns the light from direction `d` at a place: the window ahead, or lamps and dark panels behind.
vec3 room(vec3 at, vec3 d) {
    if (d.z < -0.05) {
        float t = (-0.42 - at.z) / d.z;
        return window(at.xy + d.xy * t);
    }
    vec3 panels = vec3(0.10, 0.065, 0.04) * (0.7 + 0.5 * noise(d * 6.0));
    vec3 lamp = vec3(5.0, 3.2, 1.5) * smoothstep(0.985, 0.993, dot(d, normalize(vec3(-0.55, 0.45, 0.7))));
    vec3 door = vec3(1.3, 1.35, 1.4) * smoothstep(0.13, 0.11, abs(d.x - 0.45)) * smoothstep(0.42, 0.38, abs(d.y - 0.1));
    return panels + lamp + door;
}

// Returns the diffuse light at a place: from the window behind, the room in front, and above. Shelves
// are darker.
vec3 diffuse_light(vec3 at, vec3 n) {
    float deep = smoothstep(-0.45, 0.35, at.z);
    vec3 back = vec3(1.25, 1.20, 1.05) * max(dot(n, normalize(vec3(0.1, 0.25, -1.0))) * 0.7 + 0.3, 0.0);
    vec3 front = vec3(0.62, 0.46, 0.31) * max(dot(n, normalize(vec3(-0.5, 0.5, 0.7))) * 0.6 + 0.4, 0.0);
    vec3 above = vec3(0.30, 0.30, 0.29) * (n.y * 0.5 + 0.5);
    return back * mix(0.5, 0.75, deep) + front * mix(0.45, 1.0, deep) + above * mix(0.3, 1.0, deep);
}
