#version 450
// Objects and the wall: a place, a normal and texture coordinates, as meshes have them.
layout(push_constant) uniform Push { vec4 place; vec4 turn; };
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(location = 0) out vec3 out_normal;
layout(location = 1) out vec2 out_uv;
layout(location = 2) out vec3 out_place;
void main() {
    mat3 rotation = mat3(turn.x, turn.y, 0.0, -turn.y, turn.x, 0.0, 0.0, 0.0, 1.0);
    vec3 world = rotation * position * place.w + place.xyz;
    out_normal = normalize(rotation * normal);
    out_uv = uv * 4.0;
    out_place = world;
    gl_Position = vec4(world, 1.0);
}
