//! Numeric functions of the host side of the GPU, with equal results on every machine.
//!
//! The logarithm is evaluated in `f64` with plain IEEE operations (no library, no contraction) and
//! rounded once. The functions that programs call are in `shader::elementary`.

use std::f64::consts::LOG2_E;

/// Returns the smaller number, or the other one if one is NaN.
#[inline(always)]
pub fn min(a: f32, b: f32) -> f32 {
    if b < a || a.is_nan() { b } else { a }
}

/// Returns the larger number, or the other one if one is NaN.
#[inline(always)]
pub fn max(a: f32, b: f32) -> f32 {
    if b > a || a.is_nan() { b } else { a }
}

/// Clamps `a` to the range from `low` to `high`. NaN becomes `low`.
#[inline(always)]
pub fn within(a: f32, low: f32, high: f32) -> f32 {
    min(max(a, low), high)
}

/// Coefficients 1 / (2n + 1), from n = 10 down to 0.
const LOG_SERIES: [f64; 11] = {
    let mut series = [0.0; 11];
    let mut n = 0;
    while n < 11 {
        series[10 - n] = 1.0 / (2 * n + 1) as f64;
        n += 1;
    }
    series
};

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

/// Returns the logarithm to base 2.
#[inline]
pub fn log2(a: f32) -> f32 {
    log2_f64(f64::from(a)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_and_limits() {
        for step in 1..20_000 {
            let x = step as f32 * 0.01;
            let expected = f64::from(x).log2();
            assert!((f64::from(log2(x)) - expected).abs() <= 1e-7 * expected.abs().max(1.0), "{x}");
        }
        assert_eq!(log2(0.0), f32::NEG_INFINITY);
        assert!(log2(-1.0).is_nan());
        assert_eq!((min(f32::NAN, 1.0), max(1.0, f32::NAN), within(f32::NAN, 0.0, 1.0)), (1.0, 1.0, 0.0));
    }
}
