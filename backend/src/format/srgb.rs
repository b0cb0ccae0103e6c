//! sRGB: exact on every machine, because both directions come from one table of correctly rounded values.
//!
//! Decoding looks an 8-bit code up. Encoding finds the code whose interval holds the value: the threshold between codes
//! `i` and `i + 1` is the linear value of `i + 0.5`. Source: Khronos Data Format Specification, "sRGB transfer functions".

use std::sync::LazyLock;

/// Linear values of the codes 0, 0.5, 1, 1.5 ... 255.
static HALF_CODES: LazyLock<[f32; 511]> = LazyLock::new(|| std::array::from_fn(|index| decode_half_code(index as u32)));

/// The linear value of sRGB code `half_code / 2`, by arithmetic that is the same on every machine.
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
    HALF_CODES[usize::from(code) * 2]
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
            assert!((f64::from(linear) - formula).abs() < 1e-7);
        }
        assert_eq!(linear_to_srgb8(f32::NAN), 0);
        assert_eq!(linear_to_srgb8(-1.0), 0);
        assert_eq!(linear_to_srgb8(2.0), 255);
    }
}
