//! Hyperbolic functions and their inverses. They use series near 0, and exponentials and
//! logarithms elsewhere.

use std::f32::consts::LN_2;

use super::exponential::{log_1p, scaled_exp};
use super::{B, Builder, U, Value, abs, add, div, flip_sign, fma, greater, less, odd, plus, sign_bit, sub, times};

/// Coefficients of (sinh(x) - x) / x^3 as a polynomial in x^2, for |x| up to 1.
const SINH: [f32; 3] = [2.037_334e-4, 8.330_271e-3, 1.666_671_6e-1];
/// Coefficients of (tanh(x) - x) / x^3 as a polynomial in x^2, for |x| up to 0.625.
const TANH: [f32; 5] = [-5.692_296_7e-3, 2.062_816_7e-2, -5.373_651_5e-2, 1.333_140_6e-1, -3.333_328e-1];

/// Computes `e^x / 2` and `e^-x / 2` for a non-negative `x`.
fn halves(b: &mut Builder, x: Value) -> (Value, Value) {
    let (half, quarter) = (scaled_exp(b, x, -1.0), b.float(0.25));
    (half, div(b, quarter, half))
}

/// Computes the hyperbolic sine.
pub fn sinh(b: &mut Builder, x: Value) -> Value {
    let (size, sign) = (abs(b, x), sign_bit(b, x));
    let (rising, falling) = halves(b, size);
    let large = sub(b, rising, falling);
    let small = odd(b, size, &SINH);
    let near = less(b, size, 1.0);
    let value = b.select(near, small, large);
    flip_sign(b, value, sign)
}

/// Computes the hyperbolic cosine.
pub fn cosh(b: &mut Builder, x: Value) -> Value {
    let size = abs(b, x);
    let (rising, falling) = halves(b, size);
    add(b, rising, falling)
}

/// Computes the hyperbolic tangent.
pub fn tanh(b: &mut Builder, x: Value) -> Value {
    let (size, sign) = (abs(b, x), sign_bit(b, x));
    let double = add(b, size, size);
    let half = scaled_exp(b, double, -1.0);
    let over = plus(b, half, 0.5);
    let one = b.float(1.0);
    let rest = div(b, one, over);
    let large = sub(b, one, rest);
    let small = odd(b, size, &TANH);
    let near = less(b, size, 0.625);
    let value = b.select(near, small, large);
    flip_sign(b, value, sign)
}

/// Computes `log(1 + offset)`, or `log(2 x)` if `x` is so large that its square may be infinite.
fn log_of_sum(b: &mut Builder, x: Value, offset: Value) -> Value {
    let huge = greater(b, x, 1e9);
    let offset = b.select(huge, x, offset);
    let value = log_1p(b, offset);
    let more = plus(b, value, LN_2);
    b.select(huge, more, value)
}

/// Computes the inverse hyperbolic sine as `log(1 + x + x^2 / (1 + sqrt(1 + x^2)))`.
pub fn asinh(b: &mut Builder, x: Value) -> Value {
    let (size, sign, one) = (abs(b, x), sign_bit(b, x), b.float(1.0));
    let square = fma(b, size, size, one);
    let root = b.unary(U::Sqrt, square);
    let over = add(b, root, one);
    let ratio = div(b, size, over);
    let offset = fma(b, size, ratio, size);
    let value = log_of_sum(b, size, offset);
    let finite = less(b, size, f32::INFINITY);
    let value = b.select(finite, value, size);
    flip_sign(b, value, sign)
}

/// Computes the inverse hyperbolic cosine as `log(1 + t + sqrt(t^2 + 2 t))` with `t = x - 1`.
/// Returns NaN for `x` less than 1.
pub fn acosh(b: &mut Builder, x: Value) -> Value {
    let over = plus(b, x, -1.0);
    let twice = add(b, over, over);
    let square = fma(b, over, over, twice);
    let root = b.unary(U::Sqrt, square);
    let offset = add(b, over, root);
    let value = log_of_sum(b, x, offset);
    let (finite, under, nan) = (less(b, x, f32::INFINITY), less(b, x, 1.0), b.float(f32::NAN));
    let value = b.select(finite, value, x);
    b.select(under, nan, value)
}

/// Computes the inverse hyperbolic tangent as `log(1 + 2 x / (1 - x)) / 2`. Returns NaN outside of
/// -1 to 1.
pub fn atanh(b: &mut Builder, x: Value) -> Value {
    let (size, sign, one) = (abs(b, x), sign_bit(b, x), b.float(1.0));
    let (twice, under) = (add(b, size, size), sub(b, one, size));
    let offset = div(b, twice, under);
    let value = log_1p(b, offset);
    let value = times(b, value, 0.5);
    // The quotient is infinite at 1, and invalid above 1.
    let (inside, at) = (less(b, size, 1.0), b.binary(B::FEq, size, one));
    let (infinity, nan) = (b.float(f32::INFINITY), b.float(f32::NAN));
    let outside = b.select(at, infinity, nan);
    let value = b.select(inside, value, outside);
    flip_sign(b, value, sign)
}
