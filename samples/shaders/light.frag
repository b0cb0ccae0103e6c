#version 450
#extension GL_GOOGLE_include_directive : require
// Second subpass: every pixel is lit by all lamps from what the first subpass left in the attachments.
#include "common.glsl"
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0, input_attachment_index = 0) uniform subpassInput albedo;
layout(set = 0, binding = 1, input_attachment_index = 1) uniform subpassInput normal;
layout(set = 0, binding = 2, input_attachment_index = 2) uniform subpassInput position;
struct Lamp {
    vec4 place;
    vec4 tint;
};
layout(set = 0, binding = 3) uniform Lamps {
    vec4 eye;
    Lamp lamps[24];
} lights;

void main() {
    vec4 p = subpassLoad(position);
    if (p.w == 0.0) {
        color = vec4(mix(vec3(0.010, 0.012, 0.022), vec3(0.03, 0.022, 0.04), uv.y), 1.0);
        return;
    }
    vec4 base = subpassLoad(albedo);
    vec3 n = subpassLoad(normal).xyz;
    vec3 view = normalize(lights.eye.xyz - p.xyz);
    vec3 sum = base.rgb * mix(vec3(0.012), vec3(0.03, 0.035, 0.055), n.y * 0.5 + 0.5);
    for (int i = 0; i < 24; i++) {
        vec3 to = lights.lamps[i].place.xyz - p.xyz;
        float d2 = dot(to, to);
        float reach = max(1.0 - d2 / lights.lamps[i].place.w, 0.0);
        if (reach > 0.0) {
            vec3 l = to * inversesqrt(d2);
            float shine = pow(max(dot(n, normalize(l + view)), 0.0), 40.0) * base.a;
            sum += lights.lamps[i].tint.rgb * (base.rgb * max(dot(n, l), 0.0) + shine) * reach * reach / (0.12 + d2);
        }
    }
    // The lamps themselves are marked by a specular strength above one.
    color = vec4(film(base.a > 1.0 ? base.rgb * base.a : sum), 1.0);
}
