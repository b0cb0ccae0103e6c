// The uniforms and push constants of the scenes made of plain objects (see scenes/stage.rs).
layout(set = 0, binding = 0) uniform Frame {
    mat4 view_proj;
    mat4 light;
    vec4 eye;
    vec4 misc; // time, aspect ratio, point size, tangent of half the field of view
} frame;
layout(push_constant) uniform Push {
    mat4 model;
    vec4 color;
    vec4 look;
} push;
