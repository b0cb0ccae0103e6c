//! Numeric routines that every executor of programs shares, so that results do not depend on the machine.
//!
//! Transcendental functions are evaluated in `f64` with plain IEEE operations (no library, no contraction) and rounded once
//! to `f32`, which is far inside Vulkan's precision table ("Precision and Operation of SPIR-V Instructions"). Series are
//! long enough that their truncation stays under 2^-30 of the result.

use std::f64::consts::{FRAC_PI_2, LN_2, LOG2_E, PI};

/// -1, 0 or 1; zero and NaN are themselves.
pub fn sign(a: f32) -> f32 {
    if a > 0.0 {
        1.0
    } else if a < 0.0 {
        -1.0
    } else {
        a
    }
}

/// `a - floor(a)`, kept under 1.
pub fn fract(a: f32) -> f32 {
    (a - a.floor()).min(1.0 - f32::EPSILON / 2.0)
}

/// The smaller; the other one when one is NaN.
#[inline(always)]
pub fn min(a: f32, b: f32) -> f32 {
    if b < a || a.is_nan() { b } else { a }
}

/// The larger; the other one when one is NaN.
#[inline(always)]
pub fn max(a: f32, b: f32) -> f32 {
    if b > a || a.is_nan() { b } else { a }
}

/// `a` clamped to `low` to `high`; NaN is `low`.
#[inline(always)]
pub fn within(a: f32, low: f32, high: f32) -> f32 {
    min(max(a, low), high)
}

/// Remainder with the sign of `b`; 0 when `b` is 0.
pub fn floor_mod(a: i32, b: i32) -> i32 {
    if b == 0 {
        return 0;
    }
    let remainder = a.wrapping_rem(b);
    if remainder != 0 && (remainder < 0) != (b < 0) { remainder.wrapping_add(b) } else { remainder }
}

/// `a - b * floor(a / b)`.
pub fn floor_fmod(a: f32, b: f32) -> f32 {
    a - b * (a / b).floor()
}

/// `a` rounded to half precision and back; denormal halves become zero.
pub fn quantize_to_half(a: f32) -> f32 {
    let half = crate::format::half_to_f32(crate::format::f32_to_half(a));
    if half.abs() < 6.103_515_6e-5 { 0.0f32.copysign(a) } else { half }
}

/// Mantissa in [0.5, 1) and exponent of a finite number; infinity and NaN have exponent 0.
pub fn frexp(a: f32) -> (f32, i32) {
    if a == 0.0 || !a.is_finite() {
        return (a, 0);
    }
    let (scaled, bias) = if a.abs() < f32::MIN_POSITIVE { (a * 16_777_216.0, -24) } else { (a, 0) };
    let bits = scaled.to_bits();
    let exponent = ((bits >> 23) & 0xff) as i32 - 126;
    (f32::from_bits((bits & 0x807f_ffff) | 126 << 23), exponent + bias)
}

/// `a * 2^exponent`.
pub fn ldexp(a: f32, exponent: i32) -> f32 {
    (f64::from(a) * power_of_two(exponent.clamp(-400, 400))) as f32
}

/// `2^exponent` for -1022..=1023.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// A mask of `count` bits from bit `offset` on; nothing when `count` is 0.
pub fn field_mask(offset: u32, count: u32) -> u32 {
    let ones = if count >= 32 { u32::MAX } else { (1 << count) - 1 };
    ones.checked_shl(offset).unwrap_or(0)
}

/// `count` bits of `a` from bit `offset` on.
pub fn extract_unsigned(a: u32, offset: u32, count: u32) -> u32 {
    a.checked_shr(offset).unwrap_or(0) & field_mask(0, count)
}

/// `count` bits of `a` from bit `offset` on, sign-extended.
pub fn extract_signed(a: u32, offset: u32, count: u32) -> u32 {
    if count == 0 {
        return 0;
    }
    let shift = 32 - count.min(32);
    (((extract_unsigned(a, offset, count) << shift) as i32) >> shift) as u32
}

/// `x` rounded to an integer, ties to even, without a library call: adding 1.5 * 2^52 leaves no fraction bits.
fn round_even(x: f64) -> f64 {
    const NO_FRACTION: f64 = 6_755_399_441_055_744.0;
    if x.abs() < 1e15 { (x + NO_FRACTION) - NO_FRACTION } else { x.round_ties_even() }
}

/// 1 / n!, from n = 13 down to 0.
const EXP_SERIES: [f64; 14] = {
    let mut series = [1.0; 14];
    let (mut n, mut factorial) = (1, 1.0);
    while n < 14 {
        factorial *= n as f64;
        series[13 - n] = 1.0 / factorial;
        n += 1;
    }
    series
};

/// 1 / (2n + 1), from n = `N` - 1 down to 0.
const fn odd_reciprocals<const N: usize>() -> [f64; N] {
    let mut series = [0.0; N];
    let mut n = 0;
    while n < N {
        series[N - 1 - n] = 1.0 / (2 * n + 1) as f64;
        n += 1;
    }
    series
}

/// Of log and atan: 1, 1/3, 1/5 and so on, the last first.
const LOG_SERIES: [f64; 11] = odd_reciprocals();
const ATAN_SERIES: [f64; 13] = odd_reciprocals();

/// Factors between successive terms of sine and cosine, the last first.
const SIN_COS_SERIES: [(f64, f64); 9] = {
    let mut series = [(0.0, 0.0); 9];
    let mut n = 1;
    while n <= 9 {
        let k = 2.0 * n as f64;
        series[9 - n] = (1.0 / (k * (k + 1.0)), 1.0 / (k * (k - 1.0)));
        n += 1;
    }
    series
};

fn exp2_f64(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x > 1000.0 {
        return f64::INFINITY;
    }
    if x < -1000.0 {
        return 0.0;
    }
    let whole = round_even(x);
    let t = (x - whole) * LN_2;
    // Taylor series of e^t for |t| <= 0.35.
    let mut sum = 0.0;
    for coefficient in EXP_SERIES {
        sum = sum * t + coefficient;
    }
    sum * power_of_two(whole as i32)
}

fn log2_f64(x: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    if x.is_infinite() {
        return x;
    }
    let bits = x.to_bits();
    let mut exponent = ((bits >> 52) as i32) - 1023;
    let mut mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 1023 << 52);
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    // log(m) = 2 atanh((m - 1) / (m + 1)), |t| <= 0.172.
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let square = t * t;
    let mut sum = 0.0;
    for coefficient in LOG_SERIES {
        sum = sum * square + coefficient;
    }
    f64::from(exponent) + 2.0 * t * sum * LOG2_E
}

/// 2 to the power of `a`.
pub fn exp2(a: f32) -> f32 {
    exp2_f64(f64::from(a)) as f32
}

/// e to the power of `a`.
pub fn exp(a: f32) -> f32 {
    exp2_f64(f64::from(a) * LOG2_E) as f32
}

/// Logarithm to base 2.
pub fn log2(a: f32) -> f32 {
    log2_f64(f64::from(a)) as f32
}

/// Natural logarithm.
pub fn log(a: f32) -> f32 {
    (log2_f64(f64::from(a)) * LN_2) as f32
}

/// `a` to the power of `b`: `exp2(b * log2(a))`; a negative base is NaN, a power of 0 is 1.
pub fn pow(a: f32, b: f32) -> f32 {
    if b == 0.0 {
        return 1.0;
    }
    exp2_f64(f64::from(b) * log2_f64(f64::from(a))) as f32
}

/// Sine and cosine.
fn sin_cos(a: f32) -> (f64, f64) {
    let x = f64::from(a);
    if !x.is_finite() {
        return (f64::NAN, f64::NAN);
    }
    let turns = round_even(x / FRAC_PI_2);
    // The second constant is what FRAC_PI_2 lacks of a half turn's half. Of angles so large that nothing is left of the
    // fraction, the result is at least a sine and a cosine.
    let t = ((x - turns * FRAC_PI_2) - turns * 6.123_233_995_736_766e-17).clamp(-0.786, 0.786);
    let square = t * t;
    let (mut sine, mut cosine) = (1.0, 1.0);
    for (of_sine, of_cosine) in SIN_COS_SERIES {
        sine = 1.0 - sine * square * of_sine;
        cosine = 1.0 - cosine * square * of_cosine;
    }
    let sine = sine * t;
    // The conversion saturates where every number is a multiple of 4 and a sine means nothing any more.
    match turns as i64 & 3 {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    }
}

/// Sine of radians.
pub fn sin(a: f32) -> f32 {
    sin_cos(a).0 as f32
}

/// Cosine of radians.
pub fn cos(a: f32) -> f32 {
    sin_cos(a).1 as f32
}

/// Tangent of radians.
pub fn tan(a: f32) -> f32 {
    let (sine, cosine) = sin_cos(a);
    (sine / cosine) as f32
}

fn atan_f64(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    let inverted = x.abs() > 1.0;
    let mut t = if inverted { 1.0 / x.abs() } else { x.abs() };
    // Two halvings of the angle bring t under 0.2.
    for _ in 0..2 {
        t /= 1.0 + (1.0 + t * t).sqrt();
    }
    let square = t * t;
    let mut sum = 0.0;
    for coefficient in ATAN_SERIES {
        sum = coefficient - sum * square;
    }
    let angle = 4.0 * t * sum;
    (if inverted { FRAC_PI_2 - angle } else { angle }).copysign(x)
}

/// Arc tangent.
pub fn atan(a: f32) -> f32 {
    atan_f64(f64::from(a)) as f32
}

/// Angle of the point (`x`, `y`).
pub fn atan2(y: f32, x: f32) -> f32 {
    let (y, x) = (f64::from(y), f64::from(x));
    if x == 0.0 && y == 0.0 {
        return (if x.is_sign_negative() { PI } else { 0.0 }).copysign(y) as f32;
    }
    if x.is_infinite() && y.is_infinite() {
        return (if x > 0.0 { FRAC_PI_2 / 2.0 } else { 1.5 * FRAC_PI_2 }).copysign(y) as f32;
    }
    let angle = if x.abs() >= y.abs() {
        let base = atan_f64(y / x);
        if x > 0.0 { base } else { base + PI.copysign(y) }
    } else {
        FRAC_PI_2.copysign(y) - atan_f64(x / y)
    };
    angle as f32
}

/// Arc sine; NaN outside -1 to 1.
pub fn asin(a: f32) -> f32 {
    let x = f64::from(a);
    atan_f64(x / (1.0 - x * x).sqrt()) as f32
}

/// Arc cosine; NaN outside -1 to 1.
pub fn acos(a: f32) -> f32 {
    let x = f64::from(a);
    (FRAC_PI_2 - atan_f64(x / (1.0 - x * x).sqrt())) as f32
}

/// Hyperbolic sine.
pub fn sinh(a: f32) -> f32 {
    let x = f64::from(a);
    if x.abs() < 0.1 {
        let square = x * x;
        return (x * (1.0 + square / 6.0 * (1.0 + square / 20.0 * (1.0 + square / 42.0)))) as f32;
    }
    let (up, down) = (exp2_f64(x * LOG2_E), exp2_f64(-x * LOG2_E));
    ((up - down) / 2.0) as f32
}

/// Hyperbolic cosine.
pub fn cosh(a: f32) -> f32 {
    let x = f64::from(a) * LOG2_E;
    ((exp2_f64(x) + exp2_f64(-x)) / 2.0) as f32
}

/// Hyperbolic tangent.
pub fn tanh(a: f32) -> f32 {
    let x = f64::from(a);
    if x.abs() < 0.1 {
        let square = x * x;
        return (x * (1.0 - square / 3.0 * (1.0 - square * 0.4 * (1.0 - square * 17.0 / 42.0)))) as f32;
    }
    let up = exp2_f64(2.0 * x.clamp(-20.0, 20.0) * LOG2_E);
    ((up - 1.0) / (up + 1.0)) as f32
}

/// Inverse hyperbolic sine.
pub fn asinh(a: f32) -> f32 {
    let x = f64::from(a).abs();
    let value = if x < 0.05 {
        let square = x * x;
        x * (1.0 - square / 6.0 * (1.0 - square * 9.0 / 20.0))
    } else {
        log2_f64(x + (x * x + 1.0).sqrt()) * LN_2
    };
    value.copysign(f64::from(a)) as f32
}

/// Inverse hyperbolic cosine; NaN under 1.
pub fn acosh(a: f32) -> f32 {
    let x = f64::from(a);
    (log2_f64(x + (x * x - 1.0).sqrt()) * LN_2) as f32
}

/// Inverse hyperbolic tangent; NaN outside -1 to 1.
pub fn atanh(a: f32) -> f32 {
    let x = f64::from(a);
    if x.abs() < 0.05 {
        let square = x * x;
        return (x * (1.0 + square * (1.0 / 3.0 + square * (0.2 + square / 7.0)))) as f32;
    }
    (log2_f64((1.0 + x) / (1.0 - x)) * LN_2 / 2.0) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest error in units in the last place over a range, against the host's f64 functions.
    fn worst(ours: fn(f32) -> f32, reference: fn(f64) -> f64, low: f32, high: f32) -> f64 {
        let sample = |step: u32| low + (high - low) * step as f32 / 20_000.0;
        let error = |x: f32| {
            let expected = reference(f64::from(x));
            let ulp = f64::from(f32::EPSILON) * expected.abs().max(1e-30);
            (f64::from(ours(x)) - expected).abs() / ulp
        };
        (0..=20_000).map(|step| error(sample(step))).fold(0.0, f64::max)
    }

    #[test]
    fn functions_are_within_one_unit_in_the_last_place() {
        type Row = (&'static str, fn(f32) -> f32, fn(f64) -> f64, f32, f32);
        let table: [Row; 16] = [
            ("sin", sin, f64::sin, -3.2, 3.2),
            ("cos", cos, f64::cos, -3.2, 3.2),
            ("tan", tan, f64::tan, -1.5, 1.5),
            ("asin", asin, f64::asin, -1.0, 1.0),
            ("acos", acos, f64::acos, -1.0, 0.999),
            ("atan", atan, f64::atan, -50.0, 50.0),
            ("exp", exp, f64::exp, -80.0, 80.0),
            ("exp2", exp2, f64::exp2, -120.0, 120.0),
            ("log", log, f64::ln, 1e-6, 9.0),
            ("log2", log2, f64::log2, 1e-6, 9.0),
            ("sinh", sinh, f64::sinh, -9.0, 9.0),
            ("cosh", cosh, f64::cosh, -9.0, 9.0),
            ("tanh", tanh, f64::tanh, -9.0, 9.0),
            ("asinh", asinh, f64::asinh, -9.0, 9.0),
            ("acosh", acosh, f64::acosh, 1.0, 9.0),
            ("atanh", atanh, f64::atanh, -0.99, 0.99),
        ];
        for (name, ours, reference, low, high) in table {
            let error = worst(ours, reference, low, high);
            assert!(error <= 1.0, "{name}: {error}");
        }
    }

    #[test]
    fn special_values() {
        assert_eq!(exp2(f32::INFINITY), f32::INFINITY);
        assert_eq!(exp2(f32::NEG_INFINITY), 0.0);
        assert_eq!(log2(0.0), f32::NEG_INFINITY);
        assert!(log2(-1.0).is_nan() && sin(f32::INFINITY).is_nan() && asin(1.5).is_nan());
        assert_eq!(pow(0.0, 2.0), 0.0);
        assert_eq!(pow(2.0, 10.0), 1024.0);
        assert_eq!(atan2(1.0, 0.0), FRAC_PI_2 as f32);
        assert_eq!(atan2(-0.0, -1.0), -PI as f32);
        assert_eq!(frexp(6.0), (0.75, 3));
        assert_eq!(ldexp(0.75, 3), 6.0);
        assert_eq!((fract(-0.25), fract(-1e-9)), (0.75, 1.0 - f32::EPSILON / 2.0));
        assert_eq!((floor_mod(-7, 3), floor_mod(7, -3), floor_mod(1, 0)), (2, -2, 0));
        assert_eq!(extract_signed(0x80, 4, 4) as i32, -8);
        assert_eq!((min(f32::NAN, 1.0), max(1.0, f32::NAN)), (1.0, 1.0));
    }
}
