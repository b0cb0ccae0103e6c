#version 460
// Environment: vulkan1.1
// Double precision: arithmetic, functions, comparisons, conversions, vectors and matrices.
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Out { double words[]; };
layout(set = 0, binding = 1, std430) readonly buffer In { double data[]; };
uint lane = gl_LocalInvocationIndex;
uint at = lane * 28u;
void put(double value) { words[at++] = value; }
void main() {
    precise double a = data[lane * 2u], b = data[lane * 2u + 1u];
    put(a + b); put(a - b); precise double product = a * b; put(product); put(a / b); put(fma(a, b, 0.5lf)); put(sqrt(abs(a)));
    put(floor(a)); put(ceil(b)); put(trunc(a)); put(roundEven(b)); put(fract(a)); put(abs(b)); put(sign(a)); put(-b);
    put(min(a, b)); put(max(a, b)); put(mod(a, b)); put(step(a, b));
    put(double((a < b ? 1 : 0) | (a >= b ? 2 : 0) | (a == a ? 4 : 0) | (isinf(a / 0.0lf) ? 8 : 0)));
    put(double(float(a))); put(double(int(b))); put(double(int64_t(a * 1e9lf))); put(double(uint(abs(b))));
    int exponent; double mantissa = frexp(a, exponent); put(mantissa); put(ldexp(b, exponent) + double(exponent));
    double whole; double part = modf(b, whole); put(part + whole * 2.0lf);
    dmat2 m = dmat2(a, b, 1.0lf, 2.0lf); put(determinant(m));
    put(length(dvec2(3.0lf * a, 4.0lf * a)));
}
