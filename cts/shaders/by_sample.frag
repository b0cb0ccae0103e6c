#version 450
// Turns components of the colour round by the number of the sample; black where that is not where it should be. Without a loop: short programs
// are drawn in other ways.
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;

void main() {
    bool there = all(lessThan(abs(fract(gl_FragCoord.xy) - gl_SamplePosition), vec2(1e-4)));
    vec4 once = (gl_SampleID & 1) != 0 ? color.yzwx : color;
    vec4 own = (gl_SampleID & 2) != 0 ? once.zwxy : once;
    result = there ? own : vec4(0);
}
