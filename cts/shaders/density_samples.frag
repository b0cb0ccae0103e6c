#version 450
// Shows the samples of a fragment, and writes every second one.
layout(location = 0) in vec2 place;
layout(location = 0) out vec4 result;
void main() {
    gl_SampleMask[0] = 0x5;
    result = vec4(float(gl_SampleMaskIn[0]), interpolateAtSample(place, 2) - gl_FragCoord.xy, 1.0);
}
