//! sRGB, by arithmetic that is the same on every machine.
//!
//! Decoding takes a polynomial, for tables are slow where each lane wants another entry. It is off by less than half floats and 16 bits of fixed
//! point can tell. Encoding finds the code whose interval holds the value: the threshold between codes
//! `i` and `i + 1` is the linear value of `i + 0.5`, correctly rounded. Source: Khronos Data Format Specification, "sRGB transfer functions".

use std::sync::LazyLock;

/// The greatest code of the part that is a line.
pub(super) const LAST_OF_LINE: u32 = 10;

/// What codes of the line are multiplied by.
pub(super) const LINE: f32 = 1.0 / (12.92 * 255.0);

/// The curve above the line, as coefficients of powers of `code - 255`, so that white is exactly 1. They have the least greatest error over all
/// codes, relative to the root of the value (by Remez' exchange): 1.4e-4 of the least values, 7.2e-6 of the greatest.
pub(super) const CURVE: [f32; 8] =
    [1.0, 8.922_850_7e-3, 2.334_641_2e-5, 1.502_91e-8, 3.746_017_4e-11, 2.912_056_7e-13, 9.173_501e-16, 1.274_325e-18];

/// Linear values of all codes.
static CODES: LazyLock<[f32; 256]> = LazyLock::new(|| std::array::from_fn(|code| decode_code(code as u32)));

/// The linear value of a code, step by step as [`super::routines`] has it.
fn decode_code(code: u32) -> f32 {
    if code <= LAST_OF_LINE {
        return code as f32 * LINE;
    }
    let (mut sums, mut power) = (CURVE.to_vec(), code as f32 - 255.0);
    while sums.len() > 1 {
        sums = sums.chunks(2).map(|pair| pair[1].mul_add(power, pair[0])).collect();
        power *= power;
    }
    sums[0]
}

/// Linear values of the codes 0, 0.5, 1, 1.5 ... 255.
static HALF_CODES: LazyLock<[f32; 511]> = LazyLock::new(|| std::array::from_fn(|index| decode_half_code(index as u32)));

/// The linear value of sRGB code `half_code / 2`, correctly rounded.
fn decode_half_code(half_code: u32) -> f32 {
    let encoded = f64::from(half_code) / 510.0;
    if encoded <= 0.04045 {
        return (encoded / 12.92) as f32;
    }
    let base = (encoded + 0.055) / 1.055;
    // base^2.4 = base^2 * (base^2)^(1/5), the fifth root by Newton's method in f64: plain IEEE operations only.
    let square = base * base;
    let mut root = 1.0f64;
    for _ in 0..60 {
        let fourth = root * root * root * root;
        root -= (root * fourth - square) / (5.0 * fourth);
    }
    (square * root) as f32
}

/// The linear value of sRGB code `half_code / 2`; `half_code` is at most 510.
pub(super) fn half_code_to_linear(half_code: u32) -> f32 {
    HALF_CODES[half_code as usize]
}

/// The linear value, 0 to 1, of an 8-bit sRGB code.
pub fn srgb8_to_linear(code: u8) -> f32 {
    CODES[usize::from(code)]
}

/// The 8-bit sRGB code nearest to a linear value; clamped to 0 to 1, NaN is 0.
pub fn linear_to_srgb8(value: f32) -> u8 {
    // Thresholds are the odd entries; the code is how many of them the value reaches.
    let (mut low, mut high) = (0usize, 255usize);
    while low < high {
        let middle = (low + high) / 2;
        if value >= HALF_CODES[middle * 2 + 1] {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_round_trip_and_match_the_formula() {
        for code in 0..=255u8 {
            let linear = srgb8_to_linear(code);
            assert_eq!(linear_to_srgb8(linear), code);
            let encoded = f64::from(code) / 255.0;
            let formula = if encoded <= 0.04045 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) };
            let (error, linear) = (f64::from(linear) - formula, f64::from(linear));
            assert!(error.abs() <= 7.3e-6 && error.abs() <= 1.4e-4 * linear, "{code}: {linear}");
            let exact = f64::from(half_code_to_linear(u32::from(code) * 2));
            assert!((exact - formula).abs() < 1e-7);
        }
        assert!((0..255).all(|code| srgb8_to_linear(code) < srgb8_to_linear(code + 1)));
        assert_eq!([0, 255].map(srgb8_to_linear), [0.0, 1.0]);
        assert_eq!(linear_to_srgb8(f32::NAN), 0);
        assert_eq!(linear_to_srgb8(-1.0), 0);
        assert_eq!(linear_to_srgb8(2.0), 255);
    }
}
