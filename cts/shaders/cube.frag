#version 450
// A cube, from the middle of the face +x out over its edges to +z and -z.
layout(location = 1) in vec2 uv;
layout(location = 0) out vec4 result;
layout(set = 0, binding = 0) uniform samplerCube image;
void main() { result = textureLod(image, vec3(1.0, 0.0, 1.99 * uv.x - 0.995), 0.0); }
