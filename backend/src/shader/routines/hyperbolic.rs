//! Hyperbolic functions: series near 0, exponentials and logarithms elsewhere.

use std::f32::consts::LN_2;

use super::{
    Builder, U, Value, abs, add, div, exp, flip_sign, fma, greater, less, log, mul, plus, polynomial, sign_bit, sub,
    times,
};

/// (sinh(x) - x) / x^3 in x^2, to 1.
const SINH: [f32; 4] = [2.806_280_3e-6, 1.983_810_2e-4, 8.333_339e-3, 1.666_666_7e-1];
/// (tanh(x) - x) / x^3 in x^2, to 0.65.
const TANH: [f32; 6] = [2.214_902_7e-3, -8.272_457e-3, 2.174_618_7e-2, -5.395_635e-2, 1.333_329_1e-1, -3.333_333_3e-1];
/// (asinh(x) - x) / x^3 in x^2, to 1 / 2.
const ASINH: [f32; 6] = [9.936_504e-3, -2.052_679_3e-2, 3.015_617_9e-2, -4.463_002e-2, 7.499_973e-2, -1.666_666_7e-1];
/// (atanh(x) - x) / x^3 in x^2, to 1 / 2.
const ATANH: [f32; 7] =
    [1.562_916_5e-1, 4.091_623e-2, 9.751_941e-2, 1.105_083e-1, 1.428_828_6e-1, 1.999_995_9e-1, 3.333_333_4e-1];

/// `x + x^3 * series(x^2)`.
fn odd(b: &mut Builder, x: Value, series: &[f32]) -> Value {
    let square = mul(b, x, x);
    let value = polynomial(b, square, series);
    let cubic = mul(b, square, x);
    fma(b, value, cubic, x)
}

/// Half of `e^x` for `x` from 0 on, and half of its inverse.
fn halves(b: &mut Builder, x: Value) -> (Value, Value) {
    let lower = plus(b, x, -LN_2);
    let half = exp(b, lower);
    let quarter = b.float(0.25);
    (half, div(b, quarter, half))
}

/// Hyperbolic sine.
pub fn sinh(b: &mut Builder, x: Value) -> Value {
    let (size, sign) = (abs(b, x), sign_bit(b, x));
    let (rising, falling) = halves(b, size);
    let large = sub(b, rising, falling);
    let small = odd(b, size, &SINH);
    let near = less(b, size, 1.0);
    let value = b.select(near, small, large);
    flip_sign(b, value, sign)
}

/// Hyperbolic cosine.
pub fn cosh(b: &mut Builder, x: Value) -> Value {
    let size = abs(b, x);
    let (rising, falling) = halves(b, size);
    add(b, rising, falling)
}

/// Hyperbolic tangent.
pub fn tanh(b: &mut Builder, x: Value) -> Value {
    let (size, sign) = (abs(b, x), sign_bit(b, x));
    let double = add(b, size, size);
    let power = exp(b, double);
    let over = plus(b, power, 1.0);
    let (one, two) = (b.float(1.0), b.float(2.0));
    let rest = div(b, two, over);
    let large = sub(b, one, rest);
    let small = odd(b, size, &TANH);
    let near = less(b, size, 0.65);
    let value = b.select(near, small, large);
    flip_sign(b, value, sign)
}

/// `log(x + root)`, where twice `x` may be too large for a float.
fn log_of_sum(b: &mut Builder, x: Value, root: Value) -> Value {
    let huge = greater(b, x, 1e10);
    let sum = add(b, x, root);
    let argument = b.select(huge, x, sum);
    let value = log(b, argument);
    let more = plus(b, value, LN_2);
    b.select(huge, more, value)
}

/// Inverse hyperbolic sine.
pub fn asinh(b: &mut Builder, x: Value) -> Value {
    let (size, sign) = (abs(b, x), sign_bit(b, x));
    let one = b.float(1.0);
    let square = fma(b, size, size, one);
    let root = b.unary(U::Sqrt, square);
    let large = log_of_sum(b, size, root);
    let small = odd(b, size, &ASINH);
    let near = less(b, size, 0.5);
    let value = b.select(near, small, large);
    flip_sign(b, value, sign)
}

/// Inverse hyperbolic cosine; NaN under 1.
pub fn acosh(b: &mut Builder, x: Value) -> Value {
    let (under, over) = (plus(b, x, -1.0), plus(b, x, 1.0));
    let square = mul(b, under, over);
    let root = b.unary(U::Sqrt, square);
    // Near 1: log(1 + t) of the small sum, by the inverse hyperbolic sine of the root.
    let near = less(b, x, 1.1);
    let small = odd(b, root, &ASINH);
    let large = log_of_sum(b, x, root);
    b.select(near, small, large)
}

/// Inverse hyperbolic tangent; NaN outside of -1 to 1.
pub fn atanh(b: &mut Builder, x: Value) -> Value {
    let (size, sign) = (abs(b, x), sign_bit(b, x));
    let one = b.float(1.0);
    let (above, below) = (add(b, one, size), sub(b, one, size));
    let ratio = div(b, above, below);
    let value = log(b, ratio);
    let large = times(b, value, 0.5);
    let small = odd(b, size, &ATANH);
    let near = less(b, size, 0.5);
    let value = b.select(near, small, large);
    flip_sign(b, value, sign)
}
