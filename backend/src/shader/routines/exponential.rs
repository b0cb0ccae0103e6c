//! Exponentials, logarithms, powers.

use std::f32::consts;

use super::{
    B, Builder, Type, U, Value, abs, add, clamp, div, fma, fma_constant, less, mul, plus, polynomial, sub, times,
};

/// ln 2 as the sum of two floats.
const LN_2: (f32, f32) = (consts::LN_2, -1.904_654_2e-9);
/// 1 / ln 2 as the sum of two floats.
const LOG2_E: (f32, f32) = (consts::LOG2_E, 1.925_963e-8);

/// 2^x over -1/2 to 1/2.
const EXP2: [f32; 7] = [1.546_144_5e-4, 1.340_042_8e-3, 9.618_057e-3, 5.550_327e-2, 2.402_265e-1, 6.931_472e-1, 1.0];
/// e^x over -ln(2)/2 to ln(2)/2.
const EXP: [f32; 7] = [1.394_114_7e-3, 8.375_157e-3, 4.166_635e-2, 1.666_641_5e-1, 0.5, 1.0, 1.0];
/// (log(1 + x) - x + x^2 / 2) / x^3 over -1/3 to 1/3.
const LOG_1P: [f32; 9] = [
    1.133_061_7e-1,
    -1.242_220_1e-1,
    1.091_565_5e-1,
    -1.228_872_2e-1,
    1.429_186_7e-1,
    -1.667_331_6e-1,
    1.999_994_8e-1,
    -2.499_994_4e-1,
    3.333_333_3e-1,
];

/// `x * 2^n` for an integer `n` of -252 to 252, in two exact steps but for what leaves the range of floats.
pub(super) fn scale(b: &mut Builder, x: Value, n: Value) -> Value {
    let one = b.int(1);
    let half = b.binary(B::ShrArithmetic, n, one);
    let rest = b.binary(B::ISub, n, half);
    [half, rest].into_iter().fold(x, |x, exponent| {
        let power = power_of_two(b, exponent);
        mul(b, x, power)
    })
}

/// `2^n` for an integer `n` of -126 to 127.
fn power_of_two(b: &mut Builder, n: Value) -> Value {
    let (bias, shift) = (b.int(127), b.int(23));
    let biased = b.binary(B::IAdd, n, bias);
    let bits = b.binary(B::Shl, biased, shift);
    b.cast(bits, Type::F32)
}

/// `2^(high + low)` for a small `low`.
fn exp2_of_sum(b: &mut Builder, high: Value, low: Value) -> Value {
    let high = clamp(b, high, -200.0, 200.0);
    let whole = b.unary(U::RoundEven, high);
    let fraction = sub(b, high, whole);
    let fraction = add(b, fraction, low);
    let power = polynomial(b, fraction, &EXP2);
    let exponent = b.unary(U::FToS, whole);
    scale(b, power, exponent)
}

/// 2 to the power of `x`.
pub fn exp2(b: &mut Builder, x: Value) -> Value {
    let zero = b.float(0.0);
    exp2_of_sum(b, x, zero)
}

/// e to the power of `x`.
pub fn exp(b: &mut Builder, x: Value) -> Value {
    let x = clamp(b, x, -138.0, 138.0);
    let scaled = times(b, x, LOG2_E.0);
    let whole = b.unary(U::RoundEven, scaled);
    let reduced = fma_constant(b, whole, -LN_2.0, x);
    let reduced = fma_constant(b, whole, -LN_2.1, reduced);
    let power = polynomial(b, reduced, &EXP);
    let exponent = b.unary(U::FToS, whole);
    scale(b, power, exponent)
}

/// What a positive number's logarithm is made of: its exponent, the rest of its mantissa over 1, and that rest's natural
/// logarithm as a sum of the rest and a correction.
struct Logarithm {
    exponent: Value,
    rest: Value,
    correction: Value,
}

fn logarithm(b: &mut Builder, x: Value) -> Logarithm {
    let denormal = less(b, x, f32::MIN_POSITIVE);
    let raised = times(b, x, 8_388_608.0);
    let x = b.select(denormal, raised, x);
    let (lift, zero) = (b.float(-23.0), b.float(0.0));
    let lift = b.select(denormal, lift, zero);
    // The mantissa lies between 2/3 and 4/3.
    let (bits, offset, shift) = (b.cast(x, Type::I32), b.int(0x3f2a_aaab), b.int(23));
    let above = b.binary(B::ISub, bits, offset);
    let exponent = b.binary(B::ShrArithmetic, above, shift);
    let back = b.binary(B::Shl, exponent, shift);
    let mantissa = b.binary(B::ISub, bits, back);
    let mantissa = b.cast(mantissa, Type::F32);
    let rest = plus(b, mantissa, -1.0);
    let exponent = b.unary(U::SToF, exponent);
    let exponent = add(b, exponent, lift);
    let series = polynomial(b, rest, &LOG_1P);
    let square = mul(b, rest, rest);
    let cubic = mul(b, series, rest);
    let inner = plus(b, cubic, -0.5);
    let correction = mul(b, inner, square);
    Logarithm { exponent, rest, correction }
}

/// The value of a logarithm where `x` is no positive number.
fn with_special(b: &mut Builder, x: Value, value: Value) -> Value {
    let (zero, infinity, nan) = (b.float(0.0), b.float(f32::INFINITY), b.float(f32::NAN));
    let minus_infinity = b.float(f32::NEG_INFINITY);
    let finite = b.binary(B::FLt, x, infinity);
    // Infinity and NaN are themselves.
    let value = b.select(finite, value, x);
    let nothing = b.binary(B::FEq, x, zero);
    let value = b.select(nothing, minus_infinity, value);
    let negative = b.binary(B::FLt, x, zero);
    b.select(negative, nan, value)
}

/// Logarithm to base 2, as a sum of a number and what its rounding lost.
fn log2_parts(b: &mut Builder, x: Value) -> (Value, Value) {
    let Logarithm { exponent, rest, correction } = logarithm(b, x);
    let factor = b.float(LOG2_E.0);
    let high = mul(b, rest, factor);
    let lost = {
        let negated = b.unary(U::FNeg, high);
        fma(b, rest, factor, negated)
    };
    let low = fma_constant(b, rest, LOG2_E.1, lost);
    let low = fma(b, correction, factor, low);
    let sum = add(b, exponent, high);
    let carried = sub(b, sum, exponent);
    let rounding = sub(b, high, carried);
    let low = add(b, low, rounding);
    (sum, low)
}

/// Logarithm to base 2.
pub fn log2(b: &mut Builder, x: Value) -> Value {
    let (high, low) = log2_parts(b, x);
    let value = add(b, high, low);
    with_special(b, x, value)
}

/// Natural logarithm.
pub fn log(b: &mut Builder, x: Value) -> Value {
    let Logarithm { exponent, rest, correction } = logarithm(b, x);
    let low = fma_constant(b, exponent, LN_2.1, correction);
    let low = add(b, rest, low);
    let value = fma_constant(b, exponent, LN_2.0, low);
    with_special(b, x, value)
}

/// `x` to the power of `y`: `exp2(y * log2(x))`, with the product in two parts. A negative base is NaN, a power of 0 is 1.
pub fn pow(b: &mut Builder, x: Value, y: Value) -> Value {
    let (high, low) = log2_parts(b, x);
    let high = with_special(b, x, high);
    let product = mul(b, y, high);
    let negated = b.unary(U::FNeg, product);
    let lost = fma(b, y, high, negated);
    let rest = fma(b, y, low, lost);
    // Where the result overflows or vanishes the rest may be no number.
    let (size, zero, one) = (abs(b, product), b.float(0.0), b.float(1.0));
    let moderate = less(b, size, 300.0);
    let rest = b.select(moderate, rest, zero);
    let power = exp2_of_sum(b, product, rest);
    let nothing = b.binary(B::FEq, y, zero);
    b.select(nothing, one, power)
}

/// `1 / sqrt(x)`.
pub fn inverse_sqrt(b: &mut Builder, x: Value) -> Value {
    let (one, root) = (b.float(1.0), b.unary(U::Sqrt, x));
    div(b, one, root)
}
