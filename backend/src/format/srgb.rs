//! sRGB, by arithmetic that is the same on every machine.
//!
//! Both directions take polynomials, for tables are slow where each lane wants another entry. A decoded value is off by less than half floats and
//! 16 bits of fixed point can tell, and codes change at most 4e-4 of a code from where they should. What is computed here with one number
//! [`super::routines`] does with those of a wave. Source: Khronos Data Format Specification, "sRGB transfer functions".

use std::sync::LazyLock;

use smallvec::SmallVec;

/// The greatest code of the part that is a line.
pub(super) const LAST_OF_LINE: u32 = 10;

/// What codes of the line are multiplied by.
pub(super) const LINE: f32 = 1.0 / (12.92 * 255.0);

/// The curve above the line, as coefficients of powers of `code - 255`, so that white is exactly 1. They have the least greatest error over all
/// codes, relative to the root of the value (by Remez' exchange): 1.4e-4 of the least values, 7.2e-6 of the greatest.
pub(super) const CURVE: [f32; 8] =
    [1.0, 8.922_850_7e-3, 2.334_641_2e-5, 1.502_91e-8, 3.746_017_4e-11, 2.912_056_7e-13, 9.173_501e-16, 1.274_325e-18];

/// The greatest linear value of the line.
pub(super) const END_OF_LINE: f32 = 0.003_130_8;

/// What linear values of the line are multiplied by.
pub(super) const LINE_CODES: f32 = 12.92 * 255.0;

/// `mantissa^(1/2.4)` of mantissas from 1 to 2, as coefficients of their powers, with the least greatest relative error: 1.3e-6.
pub(super) const ROOT: [f32; 6] =
    [0.376_330_38, 0.952_814_7, -0.491_729_88, 0.208_567_59, -0.051_416_952, 5.435_364_8e-3];

/// `255 * 1.055 * 2^(exponent / 2.4)` of exponents from -9 to 0, at the low four bits of the biased exponent; nothing at others.
pub(super) const POWERS: [f32; 16] = [
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 19.995_403, 26.690_66, 35.627_757, 47.557_35, 63.481_447, 84.737_57, 113.111_08,
    150.985_18, 201.541_03, 269.025,
];

/// What is taken from the curve's product: `255 * 0.055`.
pub(super) const SHIFT: f32 = -14.025;

/// Linear values of all codes.
static CODES: LazyLock<[f32; 256]> = LazyLock::new(|| std::array::from_fn(|code| decode(code as u32)));

/// A sum of powers: pairs of terms first, then pairs of these, so that few wait for others.
fn polynomial(coefficients: &[f32], mut power: f32) -> f32 {
    let mut sums: SmallVec<[f32; 8]> = coefficients.into();
    while sums.len() > 1 {
        let joined = |pair: &[f32]| if let &[low, high] = pair { high.mul_add(power, low) } else { pair[0] };
        sums = sums.chunks(2).map(joined).collect();
        power *= power;
    }
    sums[0]
}

fn decode(code: u32) -> f32 {
    if code <= LAST_OF_LINE { code as f32 * LINE } else { polynomial(&CURVE, code as f32 - 255.0) }
}

/// The linear value, 0 to 1, of an 8-bit sRGB code.
pub fn srgb8_to_linear(code: u8) -> f32 {
    CODES[usize::from(code)]
}

/// The 8-bit sRGB code nearest to a linear value, by 4e-4 of a code; clamped to 0 to 1, NaN is 0.
pub fn linear_to_srgb8(value: f32) -> u8 {
    let value = value.max(0.0).min(1.0);
    let code = if value <= END_OF_LINE {
        value * LINE_CODES
    } else {
        let (word, mantissa_bits) = (value.to_bits(), f32::MANTISSA_DIGITS - 1);
        let mantissa = f32::from_bits(word & ((1 << mantissa_bits) - 1) | 1.0f32.to_bits());
        polynomial(&ROOT, mantissa).mul_add(POWERS[(word >> mantissa_bits & 15) as usize], SHIFT)
    };
    code.round_ties_even() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The linear value of a code, or of a number between codes.
    fn exact(code: f64) -> f64 {
        let encoded = code / 255.0;
        if encoded <= 0.04045 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) }
    }

    #[test]
    fn codes_are_decoded_by_the_formula() {
        for code in 0..=255u8 {
            let (linear, formula) = (f64::from(srgb8_to_linear(code)), exact(code.into()));
            let error = (linear - formula).abs();
            assert!(error <= 7.3e-6 && error <= 1.4e-4 * formula, "{code}: {linear}");
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
        // No code is less than one of a lesser value, also where pieces of the curve meet.
        for piece in (-9..0).map(|exponent| 2f32.powi(exponent)).chain([END_OF_LINE]) {
            let near =
                (-2000..2000).map(|step| linear_to_srgb8(f32::from_bits(piece.to_bits().wrapping_add_signed(step))));
            assert!(near.is_sorted());
        }
        assert_eq!([f32::NAN, -1.0, f32::NEG_INFINITY].map(linear_to_srgb8), [0; 3]);
        assert_eq!([1.0, 2.0, f32::INFINITY].map(linear_to_srgb8), [255; 3]);
    }
}
