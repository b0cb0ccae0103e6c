#version 450
// Where inputs are evaluated: inside of the primitive, and at the centre.
layout(location = 0) centroid in vec2 place;
layout(location = 0) out vec4 result;
void main() {
    result = vec4(place, gl_FragCoord.xy);
}
