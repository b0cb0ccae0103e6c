//! Trigonometric functions and their inverses.

use std::f32::consts::{FRAC_1_PI, FRAC_2_PI, FRAC_PI_2, PI};

use super::{
    B, Builder, Type, U, Value, WHOLE, abs, add, clamp, div, flip_sign, fma, fma_constant, greater, mul, odd, plus,
    polynomial, sign_bit, sub, times,
};

/// pi as the sum of three floats. All are positive, so that the reduction of -0 keeps its sign.
const PI_PARTS: [f32; 3] = [3.141_592_5, 1.509_957_9e-7, 1.078_060_5e-14];
const HALF_PI_PARTS: [f32; 3] = [PI_PARTS[0] / 2.0, PI_PARTS[1] / 2.0, PI_PARTS[2] / 2.0];

/// Coefficients of (sin(x) - x) / x^3 as a polynomial in x^2, for |x| up to 1.6.
const SIN_OF_HALF_TURN: [f32; 4] = [2.599_501_8e-6, -1.980_684_9e-4, 8.333_03e-3, -1.666_665_8e-1];
/// Coefficients of (sin(x) - x) / x^3 as a polynomial in x^2, for |x| up to pi / 4.
const SIN: [f32; 3] = [-1.951_828_7e-4, 8.332_189e-3, -1.666_665_5e-1];
/// Coefficients of cos(x) as a polynomial in x^2, for |x| up to pi / 4.
const COS: [f32; 5] = [2.443_232_7e-5, -1.388_731e-3, 4.166_664_6e-2, -0.5, 1.0];
/// Coefficients of (asin(x) - x) / x^3 as a polynomial in x^2, for |x| up to 1 / 2.
const ASIN: [f32; 5] = [4.215_830_6e-2, 2.418_477_8e-2, 4.546_915e-2, 7.495_309_4e-2, 1.666_675_2e-1];
/// Coefficients of (atan(x) - x) / x^3 as a polynomial in x^2, for |x| up to 1.
const ATAN: [f32; 8] = [
    2.919_722_8e-3,
    -1.636_413_3e-2,
    4.320_585_7e-2,
    -7.551_724e-2,
    1.066_578_55e-1,
    -1.421_100_3e-1,
    1.999_376_7e-1,
    -3.333_315_3e-1,
];

/// Computes `x - count * period`, where `parts` sum up to the period.
fn reduce(b: &mut Builder, x: Value, count: Value, parts: &[f32; 3]) -> Value {
    parts.iter().fold(x, |rest, &part| fma_constant(b, count, -part, rest))
}

/// Computes `x * (1 + x^2 * series(x^2))`, which keeps the sign of 0.
fn odd_ratio(b: &mut Builder, x: Value, series: &[f32]) -> Value {
    let square = mul(b, x, x);
    let (series, one) = (polynomial(b, square, series), b.float(1.0));
    let ratio = fma(b, series, square, one);
    mul(b, x, ratio)
}

/// Computes the sine of an angle up to 1.6, negated if the lowest bit of `count` is set. The
/// reduction of a very large angle may give any number, so the result is clamped to -1 to 1.
fn sine_of_rest(b: &mut Builder, rest: Value, count: Value) -> Value {
    let sine = odd_ratio(b, rest, &SIN_OF_HALF_TURN);
    let (bits, shift) = (b.cast(count, Type::I32), b.int(31));
    let sign = b.binary(B::Shl, bits, shift);
    let sine = flip_sign(b, sine, sign);
    clamp(b, sine, -1.0, 1.0)
}

/// Computes the sine of an angle in radians.
pub fn sin(b: &mut Builder, x: Value) -> Value {
    let bias = b.float(WHOLE);
    let sum = fma_constant(b, x, FRAC_1_PI, bias);
    let turns = sub(b, sum, bias);
    let rest = reduce(b, x, turns, &PI_PARTS);
    sine_of_rest(b, rest, sum)
}

/// Computes the cosine of an angle in radians, as the sine of the distance from the nearest odd
/// multiple of pi / 2.
pub fn cos(b: &mut Builder, x: Value) -> Value {
    let (size, half) = (abs(b, x), b.float(-0.5));
    let turns = fma_constant(b, size, FRAC_1_PI, half);
    // The count is raised by 1, because the cosine decreases at pi / 2, where the sine of the
    // distance increases.
    let sum = plus(b, turns, WHOLE + 1.0);
    let turns = plus(b, sum, -(WHOLE + 1.0));
    let turns = plus(b, turns, 0.5);
    let rest = reduce(b, size, turns, &PI_PARTS);
    sine_of_rest(b, rest, sum)
}

/// Computes the tangent of an angle in radians.
pub fn tan(b: &mut Builder, x: Value) -> Value {
    let (bias, one) = (b.float(WHOLE), b.int(1));
    let sum = fma_constant(b, x, FRAC_2_PI, bias);
    let quarters = sub(b, sum, bias);
    let rest = reduce(b, x, quarters, &HALF_PI_PARTS);
    let rest = clamp(b, rest, -0.8, 0.8);
    let sine = odd_ratio(b, rest, &SIN);
    let square = mul(b, rest, rest);
    let cosine = polynomial(b, square, &COS);
    let bits = b.cast(sum, Type::I32);
    let odd = b.binary(B::And, bits, one);
    let odd = b.cast(odd, Type::Bool);
    let negated = b.unary(U::FNeg, cosine);
    let (over, under) = (b.select(odd, negated, sine), b.select(odd, sine, cosine));
    div(b, over, under)
}

/// Returns whether the magnitude of a sine is above 1/2, and an arc sine. The arc sine is that of
/// the magnitude if it is at most 1/2, else half of the complementary angle.
fn arc(b: &mut Builder, size: Value) -> (Value, Value) {
    let large = greater(b, size, 0.5);
    let one = b.float(1.0);
    let rest = sub(b, one, size);
    let half = times(b, rest, 0.5);
    let square = mul(b, size, size);
    let square = b.select(large, half, square);
    let root = b.unary(U::Sqrt, half);
    let x = b.select(large, root, size);
    let series = polynomial(b, square, &ASIN);
    let cubic = mul(b, square, x);
    (large, fma(b, series, cubic, x))
}

/// Computes the arc sine. Returns NaN outside of -1 to 1.
pub fn asin(b: &mut Builder, x: Value) -> Value {
    let (size, sign) = (abs(b, x), sign_bit(b, x));
    let (large, angle) = arc(b, size);
    let quarter = b.float(FRAC_PI_2);
    let complement = fma_constant(b, angle, -2.0, quarter);
    let angle = b.select(large, complement, angle);
    flip_sign(b, angle, sign)
}

/// Computes the arc cosine. Returns NaN outside of -1 to 1.
pub fn acos(b: &mut Builder, x: Value) -> Value {
    let (size, sign) = (abs(b, x), sign_bit(b, x));
    let (large, angle) = arc(b, size);
    let (half, quarter, zero) = (b.float(PI), b.float(FRAC_PI_2), b.int(0));
    let twice = add(b, angle, angle);
    let behind = sub(b, half, twice);
    let negative = b.binary(B::INe, sign, zero);
    let outer = b.select(negative, behind, twice);
    let signed = flip_sign(b, angle, sign);
    let inner = sub(b, quarter, signed);
    b.select(large, outer, inner)
}

/// Computes the arc tangent of a number from 0 to 1.
fn atan_of_fraction(b: &mut Builder, x: Value) -> Value {
    odd(b, x, &ATAN)
}

/// Computes the arc tangent.
pub fn atan(b: &mut Builder, x: Value) -> Value {
    let (size, sign) = (abs(b, x), sign_bit(b, x));
    let (one, quarter) = (b.float(1.0), b.float(FRAC_PI_2));
    let steep = greater(b, size, 1.0);
    let inverse = div(b, one, size);
    let fraction = b.select(steep, inverse, size);
    let angle = atan_of_fraction(b, fraction);
    let complement = sub(b, quarter, angle);
    let angle = b.select(steep, complement, angle);
    flip_sign(b, angle, sign)
}

/// Computes the angle of the point (`x`, `y`).
pub fn atan2(b: &mut Builder, y: Value, x: Value) -> Value {
    let (width, height) = (abs(b, x), abs(b, y));
    let (zero, one, none) = (b.float(0.0), b.float(1.0), b.int(0));
    let (quarter, half) = (b.float(FRAC_PI_2), b.float(PI));
    let steep = b.binary(B::FLt, width, height);
    let low = b.select(steep, width, height);
    let high = b.select(steep, height, width);
    let fraction = div(b, low, high);
    // Two infinities give the fraction 1 and two zeros give 0. NaN is not equal to NaN, so it
    // stays.
    let nothing = b.binary(B::FEq, high, zero);
    let of_equal = b.select(nothing, zero, one);
    let equal = b.binary(B::FEq, low, high);
    let fraction = b.select(equal, of_equal, fraction);
    let angle = atan_of_fraction(b, fraction);
    let complement = sub(b, quarter, angle);
    let angle = b.select(steep, complement, angle);
    let behind = sign_bit(b, x);
    let behind = b.binary(B::INe, behind, none);
    let supplement = sub(b, half, angle);
    let angle = b.select(behind, supplement, angle);
    let sign = sign_bit(b, y);
    flip_sign(b, angle, sign)
}
