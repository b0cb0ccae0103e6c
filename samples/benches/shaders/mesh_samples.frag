#version 450
// The direction of the surface at each sample as a colour.
layout(location = 0) sample in vec3 normal;
layout(location = 0) out vec4 result;
void main() {
    result = vec4(normalize(normal) * 0.5 + 0.5, 1.0);
}
