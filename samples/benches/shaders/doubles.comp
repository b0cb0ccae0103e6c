#version 450
layout(local_size_x = 64) in;
layout(binding = 0) buffer Results { float results[]; };
void main() {
    uint number = gl_GlobalInvocationID.x;
    double sum = double(number) * 1e-6LF, factor = 0.999LF;
    for (int step = 0; step < 256; step++) {
        sum = fma(sum, factor, 0.5LF);
        factor = factor * 0.9999LF + sum * 1e-9LF;
    }
    results[number] = float(sum);
}
