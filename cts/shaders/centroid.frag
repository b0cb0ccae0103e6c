#version 450
layout(location = 0) centroid in vec4 place;
layout(location = 0) out vec4 result;
void main() { result = vec4(place.xy - floor(gl_FragCoord.xy), 1.0, 1.0); }
