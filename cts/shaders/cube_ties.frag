#version 450
// A cube in the directions whose components are -1, 0 or 1, one a pixel: to faces, edges and corners.
layout(location = 0) out vec4 result;
layout(set = 0, binding = 0) uniform samplerCube image;
void main() {
    int pixel = int(gl_FragCoord.y) * 16 + int(gl_FragCoord.x);
    ivec3 digits = ivec3(pixel % 3, pixel / 3 % 3, pixel / 9 % 3) - 1;
    result = textureLod(image, vec3(digits), 0.0);
}
