//! Conversion from and to sRGB with arithmetic whose results are equal on every machine.
//!
//! Both directions use polynomials, because table lookups are slow when each lane needs a
//! different entry. Decoded values have an error of at most 4.3e-7. Encoded codes change at most
//! 4e-4 of a code away from the exact boundary. This module converts single numbers, and
//! `format_ir` of `vitric-exec` generates an equal conversion for waves. Source: Khronos Data
//! Format Specification, "sRGB transfer functions".

use std::sync::LazyLock;

/// Addend whose sum has a rounded integer in its low bits: 1.5 * 2^23. Ties round to even.
pub const WHOLE: f32 = 12_582_912.0;
use vitric_base::simd::kernel;

/// Greatest code of the linear segment.
pub const LAST_OF_LINE: u32 = 10;

/// Linear value per code in the linear segment.
pub const LINE: f32 = 1.0 / (12.92 * 255.0);

/// Curve above the linear segment: coefficients of the powers of `code - 255`, so that white is
/// exactly 1.
///
/// The coefficients minimize the greatest error over all codes, relative to the fourth root of the
/// value (Remez exchange). The greatest error is 4.3e-7, and 3.6e-5 of the value for the smallest
/// values.
pub const CURVE: [f32; 10] = [
    1.0,
    8.921_28e-3,
    2.323_659_6e-5,
    1.263_554_2e-8,
    1.962_79e-11,
    3.425_023_7e-13,
    2.521_564_8e-15,
    1.126_930_7e-17,
    2.716_948e-20,
    2.814_476_8e-23,
];

/// Greatest linear value of the linear segment.
pub const END_OF_LINE: f32 = 0.003_130_8;

/// Codes per linear value in the linear segment.
pub const LINE_CODES: f32 = 12.92 * 255.0;

/// Coefficients of the powers of a mantissa in 1 to 2 that approximate `mantissa^(1/2.4)`.
///
/// They minimize the greatest relative error, which is 1.3e-6.
pub const ROOT: [f32; 6] = [0.376_330_38, 0.952_814_7, -0.491_729_9, 0.208_567_59, -0.051_416_952, 5.435_365e-3];

/// `255 * 1.055 * 2^(exponent / 2.4)` for exponents from -9 to 0.
///
/// The index is the low four bits of the biased exponent. Other entries are 0.
pub const POWERS: [f32; 16] = [
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 19.995_403, 26.690_66, 35.627_757, 47.557_35, 63.481_447, 84.737_57, 113.111_08,
    150.985_18, 201.541_03, 269.025,
];

/// Addend to the product of root and power in codes: `-255 * 0.055`.
pub const SHIFT: f32 = -14.025;

/// Linear values of all codes.
static CODES: LazyLock<[f32; 256]> = LazyLock::new(|| std::array::from_fn(|code| decode(code as u32)));

/// Returns the sum of `coefficients` times the powers of `power`.
///
/// The function adds pairs of terms first, then pairs of these sums, which shortens the dependency
/// chain.
#[inline(always)]
fn polynomial<const TERMS: usize>(coefficients: &[f32; TERMS], mut power: f32) -> f32 {
    let (mut sums, mut count) = (*coefficients, TERMS);
    while count > 1 {
        for low in (0..count).step_by(2) {
            sums[low / 2] = if low + 1 < count { sums[low + 1].mul_add(power, sums[low]) } else { sums[low] };
        }
        count = count.div_ceil(2);
        power *= power;
    }
    sums[0]
}

/// Returns the linear value of a code from 0 to 255.
#[inline(always)]
pub fn decode(code: u32) -> f32 {
    let (line, curve) = (code as f32 * LINE, polynomial(&CURVE, code as f32 - 255.0));
    if code <= LAST_OF_LINE { line } else { curve }
}

/// Returns the code of a linear value, like [`linear_to_srgb8`].
#[inline(always)]
pub fn encode(value: f32) -> u32 {
    // This comparison maps NaN to 0.
    let value = if value > 0.0 { value.min(1.0) } else { 0.0 };
    let (word, mantissa_bits) = (value.to_bits(), f32::MANTISSA_DIGITS - 1);
    let mantissa = f32::from_bits(word & ((1 << mantissa_bits) - 1) | 1.0f32.to_bits());
    let power = POWERS[(word >> mantissa_bits & 15) as usize];
    let (line, curve) = (value * LINE_CODES, polynomial(&ROOT, mantissa).mul_add(power, SHIFT));
    let code = if value <= END_OF_LINE { line } else { curve };
    // The sum rounds to the nearest integer, ties to even.
    (code + WHOLE).to_bits() & 255
}

/// Returns the linear value, 0 to 1, of an 8-bit sRGB code.
pub fn srgb8_to_linear(code: u8) -> f32 {
    CODES[usize::from(code)]
}

kernel!(
    /// Returns the 8-bit sRGB code nearest to a linear value, with an error of 4e-4 of a code.
    ///
    /// Values are clamped to 0 to 1. The code of NaN is 0.
    pub linear_to_srgb8, encode_byte, (value: f32) -> u8
);

#[inline(always)]
fn encode_byte(value: f32) -> u8 {
    encode(value) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the exact linear value of a code, or of a number between codes.
    fn exact(code: f64) -> f64 {
        let encoded = code / 255.0;
        if encoded <= 0.04045 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) }
    }

    #[test]
    fn codes_are_decoded_by_the_formula() {
        for code in 0..=255u8 {
            let (linear, formula) = (f64::from(srgb8_to_linear(code)), exact(code.into()));
            let error = (linear - formula).abs();
            assert!(error <= 4.4e-7 && error <= 3.6e-5 * formula, "{code}: {linear}");
        }
        assert!((0..255).all(|code| srgb8_to_linear(code) < srgb8_to_linear(code + 1)));
        assert_eq!([0, 255].map(srgb8_to_linear), [0.0, 1.0]);
    }

    #[test]
    fn codes_change_in_the_middle() {
        for code in 0..=255u8 {
            assert_eq!(linear_to_srgb8(srgb8_to_linear(code)), code);
            let [low, high] = [-0.4996, 0.4996].map(|step| exact((f64::from(code) + step).clamp(0.0, 255.0)) as f32);
            assert_eq!([low, high].map(linear_to_srgb8), [code; 2]);
        }
        // Codes never decrease as values increase, also where segments of the curve meet.
        for piece in (-9..0).map(|exponent| 2f32.powi(exponent)).chain([END_OF_LINE]) {
            let near =
                (-2000..2000).map(|step| linear_to_srgb8(f32::from_bits(piece.to_bits().wrapping_add_signed(step))));
            assert!(near.is_sorted());
        }
        assert_eq!([f32::NAN, -1.0, f32::NEG_INFINITY].map(linear_to_srgb8), [0; 3]);
        assert_eq!([1.0, 2.0, f32::INFINITY].map(linear_to_srgb8), [255; 3]);
    }
}
