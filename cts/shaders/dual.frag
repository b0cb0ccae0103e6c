#version 450
// Two colours for blending, in each of two attachments.
layout(location = 0, index = 0) out vec4 first;
layout(location = 0, index = 1) out vec4 first_factor;
layout(location = 1, index = 0) out vec4 second;
layout(location = 1, index = 1) out vec4 second_factor;
void main() {
    first = vec4(0.25);
    first_factor = vec4(1.0, 0.5, 0.0, 1.0);
    second = vec4(0.0, 0.5, 0.0, 0.0);
    second_factor = vec4(0.0, 1.0, 0.5, 1.0);
}
