#version 450
layout(location = 1) in vec2 uv;
layout(location = 0) out vec4 result;
layout(set = 0, binding = 0) uniform sampler3D image;
// Neighbouring columns show slices one after the other.
void main() {
    float slices = float(textureSize(image, 0).z);
    result = texture(image, vec3(uv, (mod(floor(gl_FragCoord.x), slices) + 0.5) / slices));
}
