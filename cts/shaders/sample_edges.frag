#version 450
// Each sample finds its pixel by an attribute that counts pixels. Samples on the edge between two pixels must find their own one.
layout(location = 0) in vec4 first;
layout(location = 1) in vec2 pixels;
layout(location = 0) out vec4 result;
void main() {
    vec2 own = floor(gl_FragCoord.xy) - first.xy;
    bool found = floor(pixels) == own && gl_SampleID >= 0;
    result = found ? vec4(0, 1, 0, 1) : vec4(1, 0, 0, 1);
}
