//! Rounding, remainders, signs, and the parts of floats.

use super::{B, Builder, SIGN, Type, U, Value, abs, div, mul, sub, times};

/// Returns -1, 0 or 1. Zeros of both signs give 0, as GLSL defines it. NaN gives 0, because
/// `VK_KHR_shader_float_controls2` allows only numbers as results.
pub fn sign(b: &mut Builder, x: Value) -> Value {
    let [zero, one, minus_one] = [0.0, 1.0, -1.0].map(|constant| b.float_like(x, constant));
    let (negative, positive) = (b.binary(B::FLt, x, zero), b.binary(B::FLt, zero, x));
    let value = b.select(positive, one, zero);
    b.select(negative, minus_one, value)
}

/// Computes `x - floor(x)`, which rounds to 1 if `x` is negative and tiny.
pub fn fract(b: &mut Builder, x: Value) -> Value {
    let floor = b.unary(U::Floor, x);
    sub(b, x, floor)
}

/// Returns 0 if `x` is less than the edge, else 1.
pub fn step(b: &mut Builder, edge: Value, x: Value) -> Value {
    let [zero, one] = [0.0, 1.0].map(|constant| b.float_like(x, constant));
    let under = b.binary(B::FLt, x, edge);
    b.select(under, zero, one)
}

/// Computes `x - y * trunc(x / y)`.
pub fn remainder_of_floats(b: &mut Builder, x: Value, y: Value) -> Value {
    modulo(b, x, y, U::Trunc)
}

/// Computes `x - y * floor(x / y)`.
pub fn floor_modulo_of_floats(b: &mut Builder, x: Value, y: Value) -> Value {
    modulo(b, x, y, U::Floor)
}

fn modulo(b: &mut Builder, x: Value, y: Value, round: U) -> Value {
    let quotient = div(b, x, y);
    let whole = b.unary(round, quotient);
    let multiple = mul(b, y, whole);
    sub(b, x, multiple)
}

/// Returns the lesser operand, or the operand that is a number if the other is NaN. Returns `y` if
/// the operands are equal.
pub fn min_of_numbers(b: &mut Builder, x: Value, y: Value) -> Value {
    extremum_of_numbers(b, (B::FMin, B::FMinNum), x, y)
}

/// Returns the greater operand, or the operand that is a number if the other is NaN. Returns `y`
/// if the operands are equal.
pub fn max_of_numbers(b: &mut Builder, x: Value, y: Value) -> Value {
    extremum_of_numbers(b, (B::FMax, B::FMaxNum), x, y)
}

/// Computes the minimum or maximum of two floats, ignoring a NaN.
///
/// `op` returns its first operand if either operand is NaN. With a constant number as first
/// operand, `op` is one instruction, where `of_numbers` takes two or three.
fn extremum_of_numbers(b: &mut Builder, (op, of_numbers): (B, B), x: Value, y: Value) -> Value {
    if is_constant_number(b, y) {
        return b.binary(op, y, x);
    }
    if is_constant_number(b, x) {
        return b.binary(op, x, y);
    }
    if !b.is_wide(x) {
        return b.binary(of_numbers, x, y);
    }
    let (is_nan, chosen) = (b.unary(U::IsNan, y), b.binary(op, y, x));
    b.select(is_nan, x, chosen)
}

/// Returns true if a float is a constant other than NaN.
fn is_constant_number(b: &Builder, value: Value) -> bool {
    let words = b.split(value).map(|word| b.as_constant(word));
    match (words, b.is_wide(value)) {
        ([Some(low), Some(high)], true) => !f64::from_bits(u64::from(low) | u64::from(high) << 32).is_nan(),
        ([Some(word), _], false) => !f32::from_bits(word).is_nan(),
        _ => false,
    }
}

/// Returns whether `x` is an infinity.
pub fn is_infinite(b: &mut Builder, x: Value) -> Value {
    let (size, infinity) = (abs(b, x), b.float_like(x, f64::INFINITY));
    b.binary(B::FEq, size, infinity)
}

/// Rounds `x` to half precision and back. A denormal half becomes zero.
pub fn quantize_to_half(b: &mut Builder, x: Value) -> Value {
    let half = b.unary(U::FloatToHalf, x);
    let rounded = b.unary(U::HalfToFloat, half);
    let (size, least) = (abs(b, rounded), b.float(6.103_515_6e-5));
    let small = b.binary(B::FLt, size, least);
    let (bits, mask) = (b.cast(x, Type::I32), b.int(SIGN));
    let zero = b.binary(B::And, bits, mask);
    let zero = b.cast(zero, Type::F32);
    b.select(small, zero, rounded)
}

/// Returns the mantissa, from 1/2 to 1, and the exponent of a finite number. Zero, infinity and
/// NaN are their own mantissa, and their exponent is 0.
pub fn frexp(b: &mut Builder, x: Value) -> (Value, Value) {
    if b.is_wide(x) {
        return frexp_of_double(b, x);
    }
    let (size, raised) = (abs(b, x), times(b, x, 16_777_216.0));
    let (least, lift, none) = (b.float(f32::MIN_POSITIVE), b.int(24), b.int(0));
    let denormal = b.binary(B::FLt, size, least);
    let scaled = b.select(denormal, raised, x);
    let lift = b.select(denormal, lift, none);
    let (bits, shift, ones, bias) = (b.cast(scaled, Type::I32), b.int(23), b.int(0xff), b.int(126));
    let exponent = b.binary(B::ShrLogical, bits, shift);
    let exponent = b.binary(B::And, exponent, ones);
    let exponent = b.binary(B::ISub, exponent, bias);
    let exponent = b.binary(B::ISub, exponent, lift);
    let (mask, half) = (b.int(0x807f_ffff), b.int(126 << 23));
    let mantissa = b.binary(B::And, bits, mask);
    let mantissa = b.binary(B::Or, mantissa, half);
    let mantissa = b.cast(mantissa, Type::F32);
    let (zero, infinity) = (b.float(0.0), b.float(f32::INFINITY));
    let (finite, nonzero) = (b.binary(B::FLt, size, infinity), b.binary(B::FNe, x, zero));
    let ordinary = b.binary(B::LogicalAnd, finite, nonzero);
    (b.select(ordinary, mantissa, x), b.select(ordinary, exponent, none))
}

/// Computes `x * 2^exponent`.
pub fn ldexp(b: &mut Builder, x: Value, exponent: Value) -> Value {
    if b.is_wide(x) {
        return ldexp_of_double(b, x, exponent);
    }
    let exponent = limit(b, exponent, -278, 278);
    // Only the last product rounds. An earlier product is denormal only if the result is 0.
    let last = limit(b, exponent, -126, 127);
    let others = b.binary(B::ISub, exponent, last);
    let second = limit(b, others, -126, 127);
    let first = b.binary(B::ISub, others, second);
    [first, second, last].into_iter().fold(x, |x, exponent| {
        let (bias, shift) = (b.int(127), b.int(23));
        let biased = b.binary(B::IAdd, exponent, bias);
        let bits = b.binary(B::Shl, biased, shift);
        let power = b.cast(bits, Type::F32);
        mul(b, x, power)
    })
}

fn frexp_of_double(b: &mut Builder, x: Value) -> (Value, Value) {
    let (size, lift) = (abs(b, x), b.float_like(x, 18_014_398_509_481_984.0));
    let raised = mul(b, x, lift);
    let (least, lift, none) = (b.float_like(x, f64::MIN_POSITIVE), b.int(54), b.int(0));
    let denormal = b.binary(B::FLt, size, least);
    let scaled = b.select(denormal, raised, x);
    let lift = b.select(denormal, lift, none);
    let [low, high] = b.split(scaled);
    let (shift, ones, bias) = (b.int(20), b.int(0x7ff), b.int(1022));
    let exponent = b.binary(B::ShrLogical, high, shift);
    let exponent = b.binary(B::And, exponent, ones);
    let exponent = b.binary(B::ISub, exponent, bias);
    let exponent = b.binary(B::ISub, exponent, lift);
    let (mask, half) = (b.int(0x800f_ffff), b.int(1022 << 20));
    let high = b.binary(B::And, high, mask);
    let high = b.binary(B::Or, high, half);
    let mantissa = b.join(low, high, Type::F64);
    let (zero, infinity) = (b.float_like(x, 0.0), b.float_like(x, f64::INFINITY));
    let (finite, nonzero) = (b.binary(B::FLt, size, infinity), b.binary(B::FNe, x, zero));
    let ordinary = b.binary(B::LogicalAnd, finite, nonzero);
    (b.select(ordinary, mantissa, x), b.select(ordinary, exponent, none))
}

fn ldexp_of_double(b: &mut Builder, x: Value, exponent: Value) -> Value {
    let exponent = limit(b, exponent, -2100, 2100);
    let last = limit(b, exponent, -1022, 1023);
    let others = b.binary(B::ISub, exponent, last);
    let second = limit(b, others, -1022, 1023);
    let first = b.binary(B::ISub, others, second);
    [first, second, last].into_iter().fold(x, |x, exponent| {
        let (bias, shift, zero) = (b.int(1023), b.int(20), b.int(0));
        let biased = b.binary(B::IAdd, exponent, bias);
        let high = b.binary(B::Shl, biased, shift);
        let power = b.join(zero, high, Type::F64);
        mul(b, x, power)
    })
}

/// Clamps an integer to two limits.
fn limit(b: &mut Builder, x: Value, low: i32, high: i32) -> Value {
    let (low, high) = (b.int(low as u32), b.int(high as u32));
    let x = b.binary(B::SMax, x, low);
    b.binary(B::SMin, x, high)
}
