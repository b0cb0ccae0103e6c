#version 450
// Rectangles one behind the other, of the colour that the numbers of their draw make.
#extension GL_ARB_shader_draw_parameters : require
layout(push_constant) uniform Push { vec4 rect; vec4 color; vec4 extra; };
layout(location = 0) out vec4 out_color;
void main() {
    int vertex = gl_VertexIndex - gl_BaseVertexARB;
    vec2 corner = vec2[](vec2(0, 0), vec2(1, 0), vec2(0, 1), vec2(0, 1), vec2(1, 0), vec2(1, 1))[vertex % 6];
    corner.x = (corner.x + float(gl_DrawIDARB)) * 0.25;
    gl_Position = vec4(mix(rect.xy, rect.zw, corner), extra.x, 1.0);
    vec3 numbers = vec3(gl_BaseVertexARB, gl_BaseInstanceARB + 16 * (gl_InstanceIndex - gl_BaseInstanceARB), gl_DrawIDARB);
    out_color = vec4(numbers / 255.0, 1.0);
}
