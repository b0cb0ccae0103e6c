//! Small floats: half floats, unsigned floats of 11 and 10 bits, and floats with a shared
//! exponent.
//!
//! Conversions to fewer bits round to nearest even for halves, and towards zero for the unsigned
//! floats, as the specification permits. Values out of range become the largest finite value where
//! the format requires that. Source: Vulkan specification, "16-bit/11-bit/10-bit Floating-Point
//! Numbers", "Fixed-Point Data Conversions" (shared exponent).

/// Converts a half float in the low 16 bits to `f32`.
pub fn half_to_f32(bits: u32) -> f32 {
    half::f16::from_bits(bits as u16).to_f32()
}

/// Converts `value` to a half float, rounded to nearest even.
pub fn f32_to_half(value: f32) -> u32 {
    u32::from(half::f16::from_f32(value).to_bits())
}

/// Converts an unsigned float with 5 exponent bits and `mantissa` (5 or 6) mantissa bits to `f32`.
pub fn ufloat_to_f32(bits: u32, mantissa: u32) -> f32 {
    // The layout is that of a half float without a sign and with fewer mantissa bits.
    half_to_f32(bits << (10 - mantissa))
}

/// Converts `value` to an unsigned float with 5 exponent bits and `mantissa` (5 or 6) mantissa
/// bits.
///
/// Negative values become 0. Infinity and NaN stay so. Larger finite values become the largest
/// finite one.
pub fn f32_to_ufloat(value: f32, mantissa: u32) -> u32 {
    let infinity = 31 << mantissa;
    if value.is_nan() {
        return infinity | 1;
    }
    if value <= 0.0 {
        return 0;
    }
    if value.is_infinite() {
        return infinity;
    }
    let bits = value.to_bits();
    let exponent = (bits >> 23) as i32 - 127 + 15;
    if exponent >= 31 {
        return infinity - 1;
    }
    if exponent <= 0 {
        // Denormal: the smallest step is 2^-14 / 2^mantissa.
        return (value * f32::from_bits((127 + 14 + mantissa) << 23)) as u32;
    }
    ((exponent as u32) << mantissa) | ((bits & 0x7f_ffff) >> (23 - mantissa))
}

/// Converts three 9-bit mantissas with a shared 5-bit exponent to `f32`.
pub fn shared_exponent_to_f32(bits: u32) -> [f32; 3] {
    let exponent = (bits >> 27) as i32 - 15 - 9;
    let scale = f32::from_bits(((exponent + 127) as u32) << 23);
    [0, 9, 18].map(|shift| ((bits >> shift) & 0x1ff) as f32 * scale)
}

/// Converts three values to 9-bit mantissas with a shared exponent.
///
/// Negative values and NaN become 0. Values above 65408 become 65408.
pub fn f32_to_shared_exponent(rgb: [f32; 3]) -> u32 {
    const LARGEST: f32 = 65408.0;
    let clamped = rgb.map(|value| if value > 0.0 { value.min(LARGEST) } else { 0.0 });
    let largest = clamped.iter().fold(0.0f32, |a, &b| a.max(b));
    let floor_log2 = (largest.to_bits() >> 23) as i32 - 127;
    let mut exponent = (-16).max(floor_log2) + 1 + 15;
    // The value of one mantissa step is 2^(exponent - 15 - 9).
    let step = |exponent: i32| f32::from_bits(((exponent - 24 + 127) as u32) << 23);
    if (largest / step(exponent) + 0.5) as u32 == 512 {
        exponent += 1;
    }
    let mantissa = clamped.map(|value| (value / step(exponent) + 0.5) as u32);
    mantissa[0] | mantissa[1] << 9 | mantissa[2] << 18 | (exponent as u32) << 27
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsigned_floats_round_trip() {
        for mantissa in [5, 6] {
            for bits in 0..(31 << mantissa) {
                assert_eq!(f32_to_ufloat(ufloat_to_f32(bits, mantissa), mantissa), bits);
            }
            assert_eq!(f32_to_ufloat(f32::INFINITY, mantissa), 31 << mantissa);
            assert_eq!(f32_to_ufloat(1e30, mantissa), (31 << mantissa) - 1);
            assert_eq!(f32_to_ufloat(-1.0, mantissa), 0);
            assert!(ufloat_to_f32(f32_to_ufloat(f32::NAN, mantissa), mantissa).is_nan());
        }
    }

    #[test]
    fn shared_exponent_keeps_values_it_can_hold() {
        for rgb in [[0.0; 3], [1.0, 0.5, 0.25], [65408.0, 0.0, 128.0], [f32::from_bits((127 - 24) << 23), 0.0, 0.0]] {
            assert_eq!(shared_exponent_to_f32(f32_to_shared_exponent(rgb)), rgb);
        }
        assert_eq!(shared_exponent_to_f32(f32_to_shared_exponent([1e9, -1.0, f32::NAN])), [65408.0, 0.0, 0.0]);
    }
}
