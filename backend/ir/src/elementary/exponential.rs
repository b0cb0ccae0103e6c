//! Exponentials, logarithms and powers.

use std::f32::consts::LOG2_E;

use super::{
    B, Builder, Type, U, Value, WHOLE, add, clamp, div, fma, fma_constant, less, mul, plus, polynomial, sub, times,
};

/// ln 2 as the sum of two floats.
const LN_2: (f32, f32) = (std::f32::consts::LN_2, -1.904_654_2e-9);
/// 2 / ln 2 as the sum of two floats.
const TWO_LOG2_E: (f32, f32) = (2.885_39, 3.851_926e-8);
/// Bits of the square root of 1/2.
const ROOT_OF_HALF: u32 = 0x3f35_04f3;

/// Coefficients of 2^x, for x from -1/2 to 1/2.
const EXP2: [f32; 7] = [1.532_645_8e-4, 1.339_080_7e-3, 9.618_506e-3, 5.550_36e-2, 2.402_264_8e-1, 6.931_472e-1, 1.0];
/// Coefficients of e^x, for x from -ln(2)/2 to ln(2)/2.
const EXP: [f32; 7] = [1.381_829_8e-3, 8.368_533e-3, 4.166_829_2e-2, 1.666_652_3e-1, 4.999_999_4e-1, 1.0, 1.0];
/// Coefficients of (log(1 + x) - x) / x^2, for 1 + x from sqrt(1/2) to sqrt(2).
const LOG: [f32; 8] = [
    8.738_752e-2,
    -1.430_770_6e-1,
    1.491_635_9e-1,
    -1.657_031_5e-1,
    1.996_224e-1,
    -2.500_177_6e-1,
    3.333_394_5e-1,
    -4.999_999e-1,
];
/// Coefficients of (log2(1 + x) - x / ln(2)) / x^2, for 1 + x from sqrt(1/2) to sqrt(2).
const LOG2: [f32; 8] = [
    1.260_704_1e-1,
    -2.064_266_2e-1,
    2.152_036_3e-1,
    -2.390_579_3e-1,
    2.879_934_3e-1,
    -3.606_994_2e-1,
    4.809_072e-1,
    -7.213_474e-1,
];
/// Coefficients of (2 artanh(x) / ln(2) - 2 x / ln(2)) / x^3 as a polynomial in x^2. Here x = (m -
/// 1) / (m + 1), for mantissas m from sqrt(1/2) to sqrt(2).
const LOG2_OF_RATIO: [f32; 3] = [4.309_034_6e-1, 5.767_565e-1, 9.617_982_5e-1];

/// Bias that `scale` expects in an exponent.
const BIAS: f32 = 254.0;

/// Computes `x * 2^(n - 254)`, where `n` is the low nine bits of `word`, from 2 to 508. The power
/// is applied as two factors. Only the second product rounds, unless the first product is
/// denormal.
fn scale(b: &mut Builder, x: Value, word: Value) -> Value {
    let (below, shift, exponents) = (b.int(22), b.int(23), b.int(0x7f80_0000));
    let half = b.binary(B::Shl, word, below);
    let half = b.binary(B::And, half, exponents);
    let all = b.binary(B::Shl, word, shift);
    let rest = b.binary(B::ISub, all, half);
    [half, rest].into_iter().fold(x, |x, power| {
        let power = b.cast(power, Type::F32);
        mul(b, x, power)
    })
}

/// Computes 2 to the power of `x`.
pub fn exp2(b: &mut Builder, x: Value) -> Value {
    let x = clamp(b, x, -151.0, 129.0);
    let sum = plus(b, x, WHOLE + BIAS);
    let whole = plus(b, sum, -(WHOLE + BIAS));
    let fraction = sub(b, x, whole);
    let power = polynomial(b, fraction, &EXP2);
    let word = b.cast(sum, Type::I32);
    scale(b, power, word)
}

/// Computes e to the power of `x`.
pub fn exp(b: &mut Builder, x: Value) -> Value {
    scaled_exp(b, x, 0.0)
}

/// Computes `e^x * 2^lift`, for a whole `lift` from -1 to 1.
pub(super) fn scaled_exp(b: &mut Builder, x: Value, lift: f32) -> Value {
    let x = clamp(b, x, -105.0, 90.0);
    let bias = b.float(WHOLE + BIAS + lift);
    let sum = fma_constant(b, x, LOG2_E, bias);
    let whole = sub(b, sum, bias);
    let rest = fma_constant(b, whole, -LN_2.0, x);
    let rest = fma_constant(b, whole, -LN_2.1, rest);
    let power = polynomial(b, rest, &EXP);
    let word = b.cast(sum, Type::I32);
    scale(b, power, word)
}

/// Parts of a positive number `(1 + rest) * 2^exponent`. The mantissa `1 + rest` lies between the
/// square roots of 1/2 and 2.
#[derive(Clone, Copy)]
struct Parts {
    rest: Value,
    exponent: Value,
}

/// Returns the parts of a number that is not denormal.
fn parts_of_normal(b: &mut Builder, x: Value) -> Parts {
    let (bits, root, shift) = (b.cast(x, Type::I32), b.int(ROOT_OF_HALF), b.int(23));
    let above = b.binary(B::ISub, bits, root);
    let exponent = b.binary(B::ShrArithmetic, above, shift);
    let mask = b.int(0x007f_ffff);
    let mantissa = b.binary(B::And, above, mask);
    let mantissa = b.binary(B::IAdd, mantissa, root);
    let mantissa = b.cast(mantissa, Type::F32);
    Parts { rest: plus(b, mantissa, -1.0), exponent: b.unary(U::SToF, exponent) }
}

fn parts(b: &mut Builder, x: Value) -> Parts {
    let denormal = less(b, x, f32::MIN_POSITIVE);
    let raised = times(b, x, 8_388_608.0);
    let x = b.select(denormal, raised, x);
    let (lift, zero) = (b.float(-23.0), b.float(0.0));
    let lift = b.select(denormal, lift, zero);
    let Parts { rest, exponent } = parts_of_normal(b, x);
    Parts { rest, exponent: add(b, exponent, lift) }
}

/// Returns the logarithm `value`, or the special value for an `x` that is not finite and positive.
fn with_special(b: &mut Builder, x: Value, value: Value) -> Value {
    let (zero, infinity, nan) = (b.float(0.0), b.float(f32::INFINITY), b.float(f32::NAN));
    let minus_infinity = b.float(f32::NEG_INFINITY);
    let finite = b.binary(B::FLt, x, infinity);
    // Infinity and NaN are returned unchanged.
    let value = b.select(finite, value, x);
    let nothing = b.binary(B::FEq, x, zero);
    let value = b.select(nothing, minus_infinity, value);
    let negative = b.binary(B::FLt, x, zero);
    b.select(negative, nan, value)
}

/// Computes the logarithm to base 2.
pub fn log2(b: &mut Builder, x: Value) -> Value {
    let Parts { rest, exponent } = parts(b, x);
    let square = mul(b, rest, rest);
    let series = polynomial(b, rest, &LOG2);
    let curve = mul(b, square, series);
    let value = fma_constant(b, rest, LOG2_E, curve);
    let value = add(b, exponent, value);
    with_special(b, x, value)
}

/// Computes the natural logarithm of the number with these parts, plus a small correction.
fn log_of_parts(b: &mut Builder, Parts { rest, exponent }: Parts, correction: Value) -> Value {
    let square = mul(b, rest, rest);
    let series = polynomial(b, rest, &LOG);
    let curve = fma(b, square, series, correction);
    let low = fma_constant(b, exponent, LN_2.1, curve);
    let low = add(b, rest, low);
    fma_constant(b, exponent, LN_2.0, low)
}

/// Computes the natural logarithm.
pub fn log(b: &mut Builder, x: Value) -> Value {
    let (parts, zero) = (parts(b, x), b.float(0.0));
    let value = log_of_parts(b, parts, zero);
    with_special(b, x, value)
}

/// Computes the natural logarithm of `1 + x`, for a finite non-negative `x`.
pub(super) fn log_1p(b: &mut Builder, x: Value) -> Value {
    let sum = plus(b, x, 1.0);
    // Rounding error of the sum, relative to the sum.
    let kept = plus(b, sum, -1.0);
    let lost = sub(b, x, kept);
    let correction = div(b, lost, sum);
    let parts = parts_of_normal(b, sum);
    log_of_parts(b, parts, correction)
}

/// Computes the logarithm to base 2 as the sum of a float and a small float, to a precision of
/// 2^-30. The logarithms of 0 and infinity are finite numbers of great magnitude, so that their
/// product with 0 is 0.
fn log2_in_two(b: &mut Builder, x: Value) -> (Value, Value) {
    let Parts { rest, exponent } = parts(b, x);
    // (m - 1) / (m + 1) in two parts: a rounded quotient and its error.
    let over = plus(b, rest, 2.0);
    let kept = plus(b, over, -2.0);
    let lost = sub(b, rest, kept);
    let one = b.float(1.0);
    let inverse = div(b, one, over);
    let ratio = mul(b, rest, inverse);
    let negated = b.unary(U::FNeg, ratio);
    let left = fma(b, negated, over, rest);
    let left = fma(b, negated, lost, left);
    let left = mul(b, left, inverse);

    let square = mul(b, ratio, ratio);
    let series = polynomial(b, square, &LOG2_OF_RATIO);
    let cube = mul(b, ratio, square);
    let low = mul(b, cube, series);
    let low = fma_constant(b, ratio, TWO_LOG2_E.1, low);
    let low = fma_constant(b, left, TWO_LOG2_E.0, low);
    let fraction = fma_constant(b, ratio, TWO_LOG2_E.0, low);
    let kept = fma_constant(b, negated, TWO_LOG2_E.0, fraction);
    let low = sub(b, low, kept);

    let high = add(b, exponent, fraction);
    let kept = sub(b, high, exponent);
    let lost = sub(b, fraction, kept);
    let low = add(b, low, lost);
    (with_finite_special(b, x, high), low)
}

/// Returns the logarithm `value` or a special value, as `with_special` does, but with finite
/// numbers instead of infinities.
fn with_finite_special(b: &mut Builder, x: Value, value: Value) -> Value {
    let (zero, infinity, nan) = (b.float(0.0), b.float(f32::INFINITY), b.float(f32::NAN));
    let (least, most) = (b.float(-f32::MAX), b.float(f32::MAX));
    let finite = b.binary(B::FLt, x, infinity);
    let large = b.binary(B::FMin, x, most);
    let value = b.select(finite, value, large);
    let nothing = b.binary(B::FEq, x, zero);
    let value = b.select(nothing, least, value);
    let negative = b.binary(B::FLt, x, zero);
    b.select(negative, nan, value)
}

/// Returns the exponent `y`, scaled by 2^100 if the logarithm of `x` is infinite. The scaling
/// makes up for the finite number that replaces the infinity. A `y` of 0 stays 0.
fn exponent_for(b: &mut Builder, x: Value, y: Value) -> Value {
    let (zero, infinity) = (b.float(0.0), b.float(f32::INFINITY));
    let great = times(b, y, (1_u128 << 100) as f32);
    let positive = b.binary(B::FLt, zero, x);
    let finite = b.binary(B::FLt, x, infinity);
    let exponent = b.select(positive, y, great);
    b.select(finite, exponent, great)
}

/// Computes `x` to the power of `y` as `2^(y * log2(x))`, with the logarithm in two parts. A
/// negative base gives NaN, and an exponent of 0 gives 1.
pub fn pow(b: &mut Builder, x: Value, y: Value) -> Value {
    let (high, low) = log2_in_two(b, x);
    let y = exponent_for(b, x, y);
    // An infinite exponent would make the differences below NaN.
    let y = clamp(b, y, -f32::MAX, f32::MAX);
    let product = mul(b, y, high);
    let product = clamp(b, product, -160.0, 160.0);
    let sum = plus(b, product, WHOLE + BIAS);
    let whole = plus(b, sum, -(WHOLE + BIAS));
    let negated = b.unary(U::FNeg, whole);
    let fraction = fma(b, y, high, negated);
    let fraction = fma(b, y, low, fraction);
    // The fraction is out of range only if the product was clamped. The result is then 0 or
    // infinite for any fraction.
    let fraction = clamp(b, fraction, -1.0, 1.0);
    let power = polynomial(b, fraction, &EXP2);
    let word = b.cast(sum, Type::I32);
    scale(b, power, word)
}

/// Maximum exponent of [`pow`] that is computed as a product.
const MAX_WHOLE_EXPONENT: u32 = 16;

/// Computes a power with a whole constant exponent from 0 to 16 as a product. Negative bases have
/// a defined result, too. Returns `None` for any other exponent.
pub fn pow_by_product(b: &mut Builder, x: Value, y: Value) -> Option<Value> {
    let exponent = f32::from_bits(b.as_constant(y)?);
    let mut left = (0..=MAX_WHOLE_EXPONENT).find(|&whole| whole as f32 == exponent)?;
    let (mut square, mut product) = (x, None);
    while left > 0 {
        if left & 1 != 0 {
            product = Some(product.map_or(square, |product| mul(b, product, square)));
        }
        left >>= 1;
        if left > 0 {
            square = mul(b, square, square);
        }
    }
    Some(product.unwrap_or_else(|| b.float(1.0)))
}

/// Computes `1 / sqrt(x)`.
pub fn inverse_sqrt(b: &mut Builder, x: Value) -> Value {
    let (one, root) = (b.float_like(x, 1.0), b.unary(U::Sqrt, x));
    div(b, one, root)
}
