#version 450
// A corner of a square grid that fills the target, slightly bent, with a normal; where it is flat, with the same one everywhere.
layout(push_constant) uniform Push { vec4 side; }; // Squares along an axis, and whether it is flat.
layout(location = 0) out vec3 normal;
void main() {
    float corners = side.x + 1.0;
    vec2 place = vec2(mod(float(gl_VertexIndex), corners), floor(float(gl_VertexIndex) / corners)) / side.x;
    float height = place.x * (1.0 - place.x) * place.y;
    normal = side.y > 0.0 ? vec3(0.5, 0.25, 1.0) : vec3(2.0 * place.x - 1.0, place.y, 1.0);
    gl_Position = vec4(place * 2.0 - 1.0, 0.25 + height, 1.0);
}
