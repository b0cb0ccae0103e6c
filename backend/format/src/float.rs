//! Small floats: 16-bit, the unsigned 11- and 10-bit ones, and the shared exponent.
//!
//! Conversions to fewer bits round to nearest even for halves, and towards zero for the unsigned floats, as the
//! specification permits; values out of range become the largest finite one where the format says so. Source: Vulkan
//! specification, "16-bit/11-bit/10-bit Floating-Point Numbers", "Fixed-Point Data Conversions" (shared exponent).

/// A half (in the low 16 bits) as `f32`.
pub fn half_to_f32(bits: u32) -> f32 {
    half::f16::from_bits(bits as u16).to_f32()
}

/// `value` as a half, rounded to nearest even.
pub fn f32_to_half(value: f32) -> u32 {
    u32::from(half::f16::from_f32(value).to_bits())
}

/// An unsigned float with 5 exponent bits and `mantissa` (5 or 6) mantissa bits, as `f32`.
pub fn ufloat_to_f32(bits: u32, mantissa: u32) -> f32 {
    // The layout is that of a half without sign and with fewer mantissa bits.
    half_to_f32(bits << (10 - mantissa))
}

/// `value` as an unsigned float with `mantissa` mantissa bits: negative is zero, infinity and NaN are kept, finite values
/// that are too large become the largest finite one.
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

/// Three 9-bit mantissas and a 5-bit exponent, as `f32`s.
pub fn shared_exponent_to_f32(bits: u32) -> [f32; 3] {
    let exponent = (bits >> 27) as i32 - 15 - 9;
    let scale = f32::from_bits(((exponent + 127) as u32) << 23);
    [0, 9, 18].map(|shift| ((bits >> shift) & 0x1ff) as f32 * scale)
}

/// Three `f32`s with a shared exponent; negative and NaN are zero, large ones clamp.
pub fn f32_to_shared_exponent(rgb: [f32; 3]) -> u32 {
    const LARGEST: f32 = 65408.0;
    let clamped = rgb.map(|value| if value > 0.0 { value.min(LARGEST) } else { 0.0 });
    let largest = clamped.iter().fold(0.0f32, |a, &b| a.max(b));
    let floor_log2 = (largest.to_bits() >> 23) as i32 - 127;
    let mut exponent = (-16).max(floor_log2) + 1 + 15;
    // 2^(exponent - 15 - 9) is the value of one mantissa step.
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
