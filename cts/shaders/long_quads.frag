#version 450
// The colour, by a long way, and only where neighbours in a quad are a pixel apart.
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;

#define STEP x = fract(x * 1.7 + 0.3);
#define STEPS STEP STEP STEP STEP STEP STEP STEP STEP

void main() {
    float x = gl_FragCoord.x * 0.37 + gl_FragCoord.y * 0.11;
    STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS
    vec4 changes = vec4(dFdx(gl_FragCoord.xy), dFdy(gl_FragCoord.xy));
    result = x > 2.0 || changes != vec4(1.0, 0.0, 0.0, 1.0) ? vec4(x) : color;
}
