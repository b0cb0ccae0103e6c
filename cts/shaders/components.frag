#version 450
layout(location = 0) in vec4 words[31];
layout(location = 0) out vec4 result;
void main() {
    vec4 sum = vec4(0.0);
    for (int i = 0; i < 31; i++) { sum += words[i]; }
    // 465 is the sum of all numbers.
    result = vec4(sum.x / 465.0, sum.y / 465.0, sum.z / 31.0, sum.w / 31.0);
}
