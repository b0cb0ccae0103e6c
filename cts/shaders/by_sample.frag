#version 450
// Turns components of the colour round by the number of the sample; black where that is not where it should be.
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;

void main() {
    bool there = all(lessThan(abs(fract(gl_FragCoord.xy) - gl_SamplePosition), vec2(1e-4)));
    vec4 own = vec4(0);
    for (int component = 0; component < 4; component++) {
        own[component] = color[(component + gl_SampleID) & 3];
    }
    result = there ? own : vec4(0);
}
