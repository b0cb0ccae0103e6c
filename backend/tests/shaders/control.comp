#version 450
// Control flow: nested loops, continue, break, a switch that falls through, early returns, recursion-free calls.
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { int words[]; };

int collatz(int n) {
    int steps = 0;
    while (n > 1) {
        if (steps > 50) return -1;
        n = (n % 2 == 0) ? n / 2 : 3 * n + 1;
        steps++;
    }
    return steps;
}

int classify(int n) {
    int sum = 0;
    switch (n) {
    case 0: sum += 1;
    case 1: sum += 10; break;
    case 2: case 3: return 77;
    case 7: for (int i = 0; i < 5; i++) { if (i == 2) continue; if (i == 4) break; sum += i; } break;
    default: sum = 100 + n; if (n > 10) break; sum += 1000;
    }
    return sum;
}

int nested(int n) {
    int total = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < 4; j++) {
            if (j > i) break;
            if ((i + j) % 3 == 0) continue;
            total += i * j + 1;
        }
        int k = 0;
        do { total ^= k; k += 2; } while (k < i);
    }
    return total;
}

void main() {
    int lane = int(gl_LocalInvocationIndex);
    int base = lane * 3;
    words[base] = collatz(lane);
    words[base + 1] = classify(lane);
    words[base + 2] = nested(lane);
}
