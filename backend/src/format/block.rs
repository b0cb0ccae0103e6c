//! Decoding of BC-compressed blocks into 4x4 texels.

use std::cell::RefCell;

use ash::vk;

use super::srgb::srgb8_to_linear;
use super::table::{Class, Compression, FormatInfo};
use super::{Texel, half_to_f32};

/// Blocks that a thread keeps decoded.
const KEPT: usize = 256;

/// A decoded block. What it was decoded from tells whether it still holds.
struct Decoded {
    format: vk::Format,
    block: [u8; 16],
    texels: [Texel; 16],
}

thread_local! {
    static DECODED: RefCell<Vec<Option<Decoded>>> = const { RefCell::new(Vec::new()) };
}

/// The texel at `x` and `y` (of which the last two bits count) of a block of `info.bytes` bytes, zeros behind it. Blocks that
/// a thread decoded lately are not decoded again.
///
/// # Panics
/// When the format is not compressed.
pub fn block_texel(info: &FormatInfo, block: &[u8; 16], x: u32, y: u32) -> Texel {
    let texel = (y % 4 * 4 + x % 4) as usize;
    let word = u128::from_le_bytes(*block);
    let hash = ((word ^ word >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
    DECODED.with_borrow_mut(|decoded| {
        decoded.resize_with(KEPT, || None);
        let slot = &mut decoded[hash as usize % KEPT];
        match slot {
            Some(known) if known.block == *block && known.format == info.format => known.texels[texel],
            _ => {
                let texels = decode_block(info, block);
                *slot = Some(Decoded { format: info.format, block: *block, texels });
                texels[texel]
            }
        }
    })
}

/// Decodes one block of `info.bytes` bytes into 16 texels, row by row.
///
/// # Panics
/// When `block` is shorter than a block or the format is not compressed.
fn decode_block(info: &FormatInfo, block: &[u8]) -> [Texel; 16] {
    let compression = info.compression.expect("a compressed format");
    let block = &block[..info.bytes as usize];
    match compression {
        Compression::Bc1Rgb => rgba(info, block, true, bcdec_rs::bc1),
        Compression::Bc1Rgba => rgba(info, block, false, bcdec_rs::bc1),
        Compression::Bc2 => rgba(info, block, false, bcdec_rs::bc2),
        Compression::Bc3 => rgba(info, block, false, bcdec_rs::bc3),
        Compression::Bc7 => rgba(info, block, false, bcdec_rs::bc7),
        Compression::Bc4 => channel(block, info.class == Class::Snorm).map(|red| [red, 0, 0, ONE]),
        Compression::Bc5 => two_channels(block, info.class == Class::Snorm),
        Compression::Bc6hUfloat => half_rgb(block, false),
        Compression::Bc6hSfloat => half_rgb(block, true),
    }
}

const ONE: u32 = 1.0f32.to_bits();

fn rgba(info: &FormatInfo, block: &[u8], opaque: bool, decode: fn(&[u8], &mut [u8], usize)) -> [Texel; 16] {
    let mut out = [0; 64];
    decode(block, &mut out, 16);
    let color = |code: u8| match info.class {
        Class::Srgb => srgb8_to_linear(code),
        _ => f32::from(code) / 255.0,
    };
    std::array::from_fn(|texel| {
        let code = &out[texel * 4..texel * 4 + 4];
        let alpha = if opaque { 1.0 } else { f32::from(code[3]) / 255.0 };
        [color(code[0]), color(code[1]), color(code[2]), alpha].map(f32::to_bits)
    })
}

fn two_channels(block: &[u8], signed: bool) -> [Texel; 16] {
    let (red, green) = (channel(&block[..8], signed), channel(&block[8..], signed));
    std::array::from_fn(|texel| [red[texel], green[texel], 0, ONE])
}

/// One BC4 channel: two end points, six or four values between them, and sixteen 3-bit choices.
fn channel(block: &[u8], signed: bool) -> [u32; 16] {
    let end = |code: u8| match signed {
        true => (f32::from(code as i8) / 127.0).max(-1.0),
        false => f32::from(code) / 255.0,
    };
    let first_is_larger = if signed { block[0] as i8 > block[1] as i8 } else { block[0] > block[1] };
    let (a, b) = (end(block[0]), end(block[1]));
    let lowest = if signed { -1.0 } else { 0.0 };
    let between = |step: u8, steps: f32| (a * (steps - f32::from(step)) + b * f32::from(step)) / steps;
    let value = |choice: u8| match (choice, first_is_larger) {
        (0, _) => a,
        (1, _) => b,
        (choice, true) => between(choice - 1, 7.0),
        (6, false) => lowest,
        (7, false) => 1.0,
        (choice, false) => between(choice - 1, 5.0),
    };
    let choices = block[2..8].iter().rev().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
    std::array::from_fn(|texel| value((choices >> (texel * 3)) as u8 & 7).to_bits())
}

fn half_rgb(block: &[u8], signed: bool) -> [Texel; 16] {
    let mut out = [0u16; 48];
    bcdec_rs::bc6h_half(block, &mut out, 12, signed);
    std::array::from_fn(|texel| {
        let rgb = &out[texel * 3..texel * 3 + 3];
        let [red, green, blue] = [rgb[0], rgb[1], rgb[2]].map(|code| half_to_f32(u32::from(code)).to_bits());
        [red, green, blue, ONE]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::info;

    #[test]
    fn kept_blocks_are_those_that_were_asked_for() {
        let formats = [vk::Format::BC1_RGBA_UNORM_BLOCK, vk::Format::BC1_RGB_SRGB_BLOCK, vk::Format::BC4_SNORM_BLOCK];
        for number in 0..3000u32 {
            let info = info(formats[number as usize % 3]).unwrap();
            let mut block = [0; 16];
            block[..8].copy_from_slice(&u64::from(number / 9 % 700).wrapping_mul(0x1234_5678_9abc_def1).to_le_bytes());
            let (x, y) = (number % 5, number % 7);
            let expected = decode_block(info, &block)[(y % 4 * 4 + x % 4) as usize];
            assert_eq!(block_texel(info, &block, x, y), expected);
        }
    }

    #[test]
    fn bc1_end_points_and_transparency() {
        // Red and blue end points in 565, first smaller: choice 3 is transparent black.
        let block = [0x1f, 0x00, 0x00, 0xf8, 0b11_10_01_00, 0, 0, 0];
        let texels = decode_block(info(vk::Format::BC1_RGBA_UNORM_BLOCK).unwrap(), &block);
        assert_eq!(texels[0].map(f32::from_bits), [0.0, 0.0, 1.0, 1.0]);
        assert_eq!(texels[1].map(f32::from_bits), [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(texels[3].map(f32::from_bits), [0.0; 4]);
        let opaque = decode_block(info(vk::Format::BC1_RGB_UNORM_BLOCK).unwrap(), &block);
        assert_eq!(f32::from_bits(opaque[3][3]), 1.0);
    }

    #[test]
    fn bc4_interpolates_between_its_end_points() {
        let unsigned = decode_block(info(vk::Format::BC4_UNORM_BLOCK).unwrap(), &[255, 0, 0b1000_1000, 0, 0, 0, 0, 0]);
        assert_eq!(f32::from_bits(unsigned[0][0]), 1.0);
        assert_eq!(f32::from_bits(unsigned[1][0]), 0.0);
        assert!((f32::from_bits(unsigned[2][0]) - 6.0 / 7.0).abs() < 1e-6);
        let signed =
            decode_block(info(vk::Format::BC4_SNORM_BLOCK).unwrap(), &[0x81, 0x7f, 0b1000_1000, 0, 0, 0, 0, 0]);
        assert_eq!(f32::from_bits(signed[0][0]), -1.0);
        assert_eq!(f32::from_bits(signed[1][0]), 1.0);
    }
}
