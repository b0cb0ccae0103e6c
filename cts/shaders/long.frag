#version 450
// The colour, by a long way: longer than programs are whose fragments share waves with idle lanes.
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;

#define STEP x = fract(x * 1.7 + 0.3);
#define STEPS STEP STEP STEP STEP STEP STEP STEP STEP

void main() {
    float x = gl_FragCoord.x * 0.37 + gl_FragCoord.y * 0.11;
    STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS
    // It never is.
    result = x > 2.0 ? vec4(x) : color;
}
