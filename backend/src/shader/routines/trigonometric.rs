//! Sine and its kin.

use std::f32::consts::{FRAC_PI_2, PI};

use super::{
    B, Builder, Type, U, Value, abs, add, clamp, div, flip_sign, fma, fma_constant, greater, mul, polynomial, sign_bit,
    sub, times,
};

/// pi / 2 as the sum of three floats.
const HALF_PI: [f32; 3] = [1.570_796_4, -4.371_139e-8, -1.715_124_5e-15];

/// (sin(x) - x) / x^3 in x^2, to pi / 4.
const SIN: [f32; 4] = [2.724_687e-6, -1.984_006_3e-4, 8.333_332e-3, -1.666_666_7e-1];
/// (cos(x) - 1 + x^2 / 2) / x^4 in x^2, to pi / 4.
const COS: [f32; 4] = [-2.729_840_8e-7, 2.480_058_1e-5, -1.388_888_8e-3, 4.166_666_7e-2];
/// (asin(x) - x) / x^3 in x^2, to 1 / 2.
const ASIN: [f32; 6] = [3.369_084_7e-2, 1.714_923_8e-2, 3.110_066_3e-2, 4.459_940_2e-2, 7.500_094e-2, 1.666_666_6e-1];
/// (atan(x) - x) / x^3 in x^2, to 1.
const ATAN: [f32; 10] = [
    1.488_691_9e-3,
    -9.144_63e-3,
    2.630_500_1e-2,
    -4.896_051_4e-2,
    7.031_914_3e-2,
    -8.931_827e-2,
    1.108_826_2e-1,
    -1.428_400_4e-1,
    1.999_995e-1,
    -3.333_333_3e-1,
];

/// Sine and cosine of what is left of an angle when quarter turns are taken off, and how many there were.
fn reduce(b: &mut Builder, x: Value) -> (Value, Value, Value) {
    let scaled = times(b, x, 1.0 / FRAC_PI_2);
    let quarters = b.unary(U::RoundEven, scaled);
    let rest = HALF_PI.iter().fold(x, |rest, &part| fma_constant(b, quarters, -part, rest));
    // Of angles so large that nothing is left of their fraction the results are at least a sine and a cosine.
    let rest = clamp(b, rest, -0.785_5, 0.785_5);
    let square = mul(b, rest, rest);
    let sine = polynomial(b, square, &SIN);
    let cubic = mul(b, square, rest);
    let sine = fma(b, sine, cubic, rest);
    let cosine = polynomial(b, square, &COS);
    let fourth = mul(b, square, square);
    let one = b.float(1.0);
    let parabola = fma_constant(b, square, -0.5, one);
    let cosine = fma(b, cosine, fourth, parabola);
    (sine, cosine, b.unary(U::FToS, quarters))
}

/// The sine of an angle `turn` quarters further on.
fn sine_of(b: &mut Builder, (sine, cosine, quarters): (Value, Value, Value), turn: u32) -> Value {
    let (turn, one, two, shift) = (b.int(turn), b.int(1), b.int(2), b.int(30));
    let quarter = b.binary(B::IAdd, quarters, turn);
    let odd = b.binary(B::And, quarter, one);
    let odd = b.cast(odd, Type::Bool);
    let value = b.select(odd, cosine, sine);
    let half = b.binary(B::And, quarter, two);
    let flip = b.binary(B::Shl, half, shift);
    flip_sign(b, value, flip)
}

/// Sine of radians.
pub fn sin(b: &mut Builder, x: Value) -> Value {
    let reduced = reduce(b, x);
    sine_of(b, reduced, 0)
}

/// Cosine of radians.
pub fn cos(b: &mut Builder, x: Value) -> Value {
    let reduced = reduce(b, x);
    sine_of(b, reduced, 1)
}

/// Tangent of radians.
pub fn tan(b: &mut Builder, x: Value) -> Value {
    let reduced = reduce(b, x);
    let (sine, cosine) = (sine_of(b, reduced, 0), sine_of(b, reduced, 1));
    div(b, sine, cosine)
}

/// Whether the size of a sine is over 1/2, and the arc sine of it, or of the half angle's sine then.
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

/// Arc sine; NaN outside of -1 to 1.
pub fn asin(b: &mut Builder, x: Value) -> Value {
    let (size, sign) = (abs(b, x), sign_bit(b, x));
    let (large, angle) = arc(b, size);
    let quarter = b.float(FRAC_PI_2);
    let complement = fma_constant(b, angle, -2.0, quarter);
    let angle = b.select(large, complement, angle);
    flip_sign(b, angle, sign)
}

/// Arc cosine; NaN outside of -1 to 1.
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

/// Arc tangent of a number of 0 to 1.
fn atan_of_fraction(b: &mut Builder, x: Value) -> Value {
    let square = mul(b, x, x);
    let series = polynomial(b, square, &ATAN);
    let cubic = mul(b, square, x);
    fma(b, series, cubic, x)
}

/// Arc tangent.
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

/// Angle of the point (`x`, `y`).
pub fn atan2(b: &mut Builder, y: Value, x: Value) -> Value {
    let (width, height) = (abs(b, x), abs(b, y));
    let (zero, one, none) = (b.float(0.0), b.float(1.0), b.int(0));
    let (quarter, half) = (b.float(FRAC_PI_2), b.float(PI));
    let steep = b.binary(B::FLt, width, height);
    let low = b.select(steep, width, height);
    let high = b.select(steep, height, width);
    let fraction = div(b, low, high);
    // Two infinities make half a quarter, two zeros make none.
    let equal = b.binary(B::FEq, low, high);
    let fraction = b.select(equal, one, fraction);
    let nothing = b.binary(B::FEq, high, zero);
    let fraction = b.select(nothing, zero, fraction);
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
