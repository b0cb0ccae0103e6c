//! Conversion between texels in memory and unpacked texels.
//!
//! Fixed point follows the specification's equations. Conversion to fixed point clamps and rounds
//! to nearest, ties to even. Integers out of range are clamped, as the specification requires for
//! colour clears and stores.

use super::float::{
    f32_to_half, f32_to_shared_exponent, f32_to_ufloat, half_to_f32, shared_exponent_to_f32, ufloat_to_f32,
};
use super::srgb::{linear_to_srgb8, srgb8_to_linear};
use super::table::{Channel, Class, FormatInfo};
use super::{Texel, one};

/// Decodes one texel of an uncompressed colour format from its first `info.bytes` bytes.
///
/// Missing components are 0, 0, 0, 1.
#[inline]
pub fn decode(info: &FormatInfo, bytes: &[u8]) -> Texel {
    if let (Class::Unorm, [_, _, _, _], &[red, green, blue, alpha, ..], 4) =
        (info.class, info.channels, bytes, info.bytes)
    {
        let word = u32::from_le_bytes([red, green, blue, alpha]);
        let mut texel = [0; 4];
        for channel in info.channels {
            let code = word >> channel.offset & largest(channel.bits);
            texel[usize::from(channel.component)] = unorm_to_f32(code, channel.bits).to_bits();
        }
        return texel;
    }
    let raw = load(bytes, info.bytes as usize);
    let mut texel = [0, 0, 0, one(info.class)];
    if info.class == Class::Ufloat && info.channels[0].bits == 9 {
        let rgb = shared_exponent_to_f32(raw as u32);
        texel[..3].copy_from_slice(&rgb.map(f32::to_bits));
        return texel;
    }
    for channel in info.channels {
        let bits = ((raw >> channel.offset) & mask(channel.bits)) as u32;
        texel[usize::from(channel.component)] = decode_channel(info.class, channel, bits);
    }
    texel
}

/// Encodes `texel` as an uncompressed colour format into the first `info.bytes` bytes of `out`.
#[inline]
pub fn encode(info: &FormatInfo, texel: Texel, out: &mut [u8]) {
    if let (Class::Unorm, [red, green, blue, alpha], 4) = (info.class, info.channels, info.bytes) {
        // Fast path for the most frequent layout: four channels in a dword.
        let code = |channel: &Channel| {
            f32_to_unorm(f32::from_bits(texel[usize::from(channel.component)]), channel.bits) << channel.offset
        };
        let word = code(red) | code(green) | code(blue) | code(alpha);
        out[..4].copy_from_slice(&word.to_le_bytes());
        return;
    }
    let raw = if info.class == Class::Ufloat && info.channels[0].bits == 9 {
        u128::from(f32_to_shared_exponent([texel[0], texel[1], texel[2]].map(f32::from_bits)))
    } else {
        let encoded = |channel: &Channel| encode_channel(info.class, channel, texel[usize::from(channel.component)]);
        info.channels.iter().fold(0, |raw, channel| raw | u128::from(encoded(channel)) << channel.offset)
    };
    let bytes = info.bytes as usize;
    out[..bytes].copy_from_slice(&raw.to_le_bytes()[..bytes]);
}

fn load(bytes: &[u8], count: usize) -> u128 {
    let mut raw = [0; 16];
    raw[..count].copy_from_slice(&bytes[..count]);
    u128::from_le_bytes(raw)
}

const fn mask(bits: u8) -> u128 {
    (1 << bits) - 1
}

fn sign_extend(bits: u32, width: u8) -> i32 {
    let shift = 32 - u32::from(width);
    ((bits << shift) as i32) >> shift
}

fn largest(width: u8) -> u32 {
    u32::MAX >> (32 - u32::from(width))
}

#[inline]
fn decode_channel(class: Class, channel: &Channel, bits: u32) -> u32 {
    let width = channel.bits;
    let float = match class {
        Class::Uint => return bits,
        Class::Sint => return sign_extend(bits, width) as u32,
        Class::Unorm => unorm_to_f32(bits, width),
        Class::Srgb if channel.component == 3 => unorm_to_f32(bits, width),
        Class::Srgb => srgb8_to_linear(bits as u8),
        Class::Snorm => (sign_extend(bits, width) as f32 / largest(width - 1) as f32).max(-1.0),
        Class::Uscaled => bits as f32,
        Class::Sscaled => sign_extend(bits, width) as f32,
        Class::Sfloat if width == 16 => half_to_f32(bits),
        Class::Sfloat => return bits,
        Class::Ufloat => ufloat_to_f32(bits, u32::from(width) - 5),
    };
    float.to_bits()
}

pub(super) fn unorm_to_f32(bits: u32, width: u8) -> f32 {
    bits as f32 / largest(width) as f32
}

#[inline]
fn encode_channel(class: Class, channel: &Channel, word: u32) -> u32 {
    let width = channel.bits;
    let value = f32::from_bits(word);
    match class {
        Class::Uint => word.min(largest(width)),
        Class::Sint => clamp_signed(word as i32, width),
        Class::Unorm => f32_to_unorm(value, width),
        Class::Srgb if channel.component == 3 => f32_to_unorm(value, width),
        Class::Srgb => u32::from(linear_to_srgb8(value)),
        Class::Snorm => f32_to_snorm(value, width),
        Class::Uscaled => (value.clamp(0.0, largest(width) as f32) as u32).min(largest(width)),
        Class::Sscaled => clamp_signed(value as i32, width),
        Class::Sfloat if width == 16 => f32_to_half(value),
        Class::Sfloat => word,
        Class::Ufloat => f32_to_ufloat(value, u32::from(width) - 5),
    }
}

fn clamp_signed(value: i32, width: u8) -> u32 {
    let high = largest(width - 1) as i32;
    (value.clamp(-high - 1, high) as u32) & largest(width)
}

/// Converts `value`, clamped to 0 to 1, to fixed point of up to 24 bits. NaN becomes 0.
fn f32_to_unorm(value: f32, width: u8) -> u32 {
    // In f64 the product is exact, so rounding happens only once. The cast of NaN gives 0.
    let scaled = f64::from(value.clamp(0.0, 1.0)) * f64::from(largest(width));
    scaled.round_ties_even() as u32
}

fn f32_to_snorm(value: f32, width: u8) -> u32 {
    let value = if value.is_nan() { 0.0 } else { value.clamp(-1.0, 1.0) };
    let scaled = f64::from(value) * f64::from(largest(width - 1));
    (scaled.round_ties_even() as i32 as u32) & largest(width)
}

/// Converts the bits of a depth plane with `depth_bits` bits to `f32`.
#[inline]
pub fn decode_depth(depth_bits: u32, bits: u32) -> f32 {
    match depth_bits {
        32 => f32::from_bits(bits),
        width => unorm_to_f32(bits & largest(width as u8), width as u8),
    }
}

/// Converts a depth to the bits of a depth plane. Fixed point clamps the depth to 0 to 1.
#[inline]
pub fn encode_depth(depth_bits: u32, depth: f32) -> u32 {
    match depth_bits {
        32 => depth.to_bits(),
        width => depth_code(width, depth),
    }
}

/// Addend that places the nearest integer of a number up to 2^50 in the low bits of the sum.
const INTEGERS: f64 = (3u64 << 51) as f64;

/// Converts a depth to its fixed-point code of `bits` bits.
///
/// The result equals that of `f32_to_unorm`, but each step has a vector instruction. The only
/// depth half way between two codes is 0.5, which rounds to the even code.
#[inline(always)]
#[expect(clippy::manual_clamp, reason = "what is no number has the code 0")]
pub fn depth_code(bits: u32, depth: f32) -> u32 {
    let scaled = f64::from(depth.max(0.0).min(1.0)) * f64::from(largest(bits as u8));
    (scaled + INTEGERS).to_bits() as u32
}

/// Returns the value of `depth` after storage in a format with `depth_bits` bits.
#[inline]
pub fn stored_depth(depth_bits: u32, depth: f32) -> f32 {
    match depth_bits {
        32 => depth,
        bits => decode_depth(bits, encode_depth(bits, depth)),
    }
}

#[cfg(test)]
mod tests {
    use ash::vk;

    use super::*;
    use crate::{all, info};

    /// Depths have the codes of other fixed-point numbers, and codes increase with depths.
    #[test]
    fn depths_are_encoded_like_all_fixed_point() {
        for bits in [16, 24] {
            let codes = largest(bits as u8);
            let mut last = -1.0;
            for code in (0..codes).step_by(if bits == 16 { 1 } else { 97 }).chain([codes]) {
                let decoded = decode_depth(bits, code);
                assert!(decoded > last && encode_depth(bits, decoded) == code);
                last = decoded;
                let middle = ((f64::from(code) + 0.5) / f64::from(codes)) as f32;
                for word in middle.to_bits() - 2..=middle.to_bits() + 2 {
                    let depth = f32::from_bits(word);
                    assert_eq!(encode_depth(bits, depth), f32_to_unorm(depth, bits as u8), "{bits} bits of {depth}");
                }
            }
            for depth in [0.0, -0.0, 0.5, 1.0, -1.0, 2.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-40] {
                assert_eq!(encode_depth(bits, depth), f32_to_unorm(depth, bits as u8), "{bits} bits of {depth}");
            }
        }
    }

    /// All codes of formats up to 16 bits, and many of wider formats, decode and encode to
    /// themselves.
    #[test]
    fn every_format_round_trips() {
        for info in all().filter(|info| info.compression.is_none() && !info.is_planar() && info.second_half().is_none())
        {
            let mut state = 0x9e37_79b9_7f4a_7c15u128;
            for round in 0..20_000u128 {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d_1405_7b7e_f767_814f).wrapping_add(round);
                let bytes = if info.bytes <= 2 { round * 7 } else { state >> 3 }.to_le_bytes();
                let first = decode(info, &bytes);
                let mut out = [0; 16];
                encode(info, first, &mut out);
                let second = decode(info, &out);
                assert!(same(info.class, first, second), "{:?}: {first:x?} {second:x?}", info.format);
            }
        }
    }

    fn same(class: Class, a: Texel, b: Texel) -> bool {
        let nan = |word: u32| !class.is_integer() && f32::from_bits(word).is_nan();
        a.iter().zip(&b).all(|(&a, &b)| a == b || (nan(a) && nan(b)))
    }

    #[test]
    fn fixed_point_follows_the_equations() {
        let unorm = info(vk::Format::R8G8B8A8_UNORM).unwrap();
        assert_eq!(decode(unorm, &[0, 255, 51, 128]).map(f32::from_bits), [0.0, 1.0, 0.2, 128.0 / 255.0]);
        let snorm = info(vk::Format::R8_SNORM).unwrap();
        assert_eq!(f32::from_bits(decode(snorm, &[0x80])[0]), -1.0);
        assert_eq!(f32::from_bits(decode(snorm, &[0x81])[0]), -1.0);
        let mut out = [0; 4];
        encode(unorm, [2.0f32, -1.0, 0.5, f32::NAN].map(f32::to_bits), &mut out);
        assert_eq!(out, [255, 0, 128, 0]);
        let bgra = info(vk::Format::B8G8R8A8_UNORM).unwrap();
        encode(bgra, [1.0f32, 0.0, 0.0, 1.0].map(f32::to_bits), &mut out);
        assert_eq!(out, [0, 0, 255, 255]);
    }

    #[test]
    fn integers_clamp() {
        let mut out = [0; 2];
        encode(info(vk::Format::R8G8_SINT).unwrap(), [1000, (-1000i32) as u32, 0, 0], &mut out);
        assert_eq!(out, [127, 128]);
        assert_eq!(decode(info(vk::Format::R8G8_SINT).unwrap(), &out)[..2], [127, (-128i32) as u32]);
    }

    #[test]
    fn depth_round_trips() {
        for bits in [0, 1, 0x7fff, 0xfffe, 0xffff] {
            assert_eq!(encode_depth(16, decode_depth(16, bits)), bits);
        }
        for bits in [0, 1, 0x7f_ffff, 0xff_fffe, 0xff_ffff] {
            assert_eq!(encode_depth(24, decode_depth(24, bits)), bits);
        }
    }
}
