//! Decoding of compressed blocks into texels of an uncompressed format.
//!
//! Decoding is exact: the uncompressed format has 8 or 16 bits, half floats or floats as the
//! block's values require.

use std::cell::RefCell;

use ash::vk;
use smallvec::SmallVec;

use super::astc::{self, Mode};
use super::convert::{decode, unorm_to_f32};
use super::table::{Class, Compression, FormatInfo, info};
use super::{Texel, etc};

/// Number of decoded blocks in each thread's cache.
const KEPT: usize = 256;

/// Most bytes of a decoded block: 12x12 texels of four half floats.
pub const MAX_DECODED: usize = 12 * 12 * 8;

/// A decoded block in the cache. `format` and `block` are its key.
struct Decoded {
    format: vk::Format,
    block: [u8; 16],
    texels: SmallVec<[u8; 64]>,
}

thread_local! {
    static DECODED: RefCell<Vec<Option<Decoded>>> = const { RefCell::new(Vec::new()) };
}

/// Returns the uncompressed format that holds all values of a compressed format.
///
/// Returns `None` if `of` is not compressed.
pub fn decoded_format(of: &FormatInfo) -> Option<&'static FormatInfo> {
    use Compression as C;
    let srgb = of.class == Class::Srgb;
    let format = match (of.compression?, of.class) {
        // Values between the end points are not representable as 8-bit codes.
        (C::Bc4, _) => vk::Format::R32_SFLOAT,
        (C::Bc5, _) => vk::Format::R32G32_SFLOAT,
        (C::EacR11, Class::Unorm) => vk::Format::R16_UNORM,
        (C::EacR11, _) => vk::Format::R16_SNORM,
        (C::EacRg11, Class::Unorm) => vk::Format::R16G16_UNORM,
        (C::EacRg11, _) => vk::Format::R16G16_SNORM,
        (C::Bc6hUfloat | C::Bc6hSfloat, _) => vk::Format::R16G16B16A16_SFLOAT,
        (C::Astc(..), _) if !srgb => vk::Format::R16G16B16A16_SFLOAT,
        _ if srgb => vk::Format::R8G8B8A8_SRGB,
        _ => vk::Format::R8G8B8A8_UNORM,
    };
    info(format)
}

/// Returns true if a block decodes to equal bytes in both formats.
pub fn decode_alike(a: &FormatInfo, b: &FormatInfo) -> bool {
    let codes = |of: &FormatInfo| decoded_format(of).filter(|decoded| decoded.channels[0].bits == 8).is_some();
    a.compression == b.compression && (a.class == b.class || codes(a) && codes(b))
}

/// Returns the unpacked texel in column `x` and row `y` of the image from its block.
///
/// `block` has `of.bytes` bytes, followed by zeros. Each thread caches the blocks that it decoded
/// last.
///
/// # Panics
/// Panics if the format is not compressed.
pub fn block_texel(of: &FormatInfo, block: &[u8; 16], x: u32, y: u32) -> Texel {
    with_texel(of, block, [x, y], decode)
}

/// Returns a texel of a block as dwords of the format that [`decoded_format`] returns, followed by
/// zeros.
///
/// The arguments are those of [`block_texel`].
///
/// # Panics
/// Panics if the format is not compressed.
pub fn block_words(of: &FormatInfo, block: &[u8; 16], x: u32, y: u32) -> Texel {
    with_texel(of, block, [x, y], |_, texel| {
        let mut words = [0; 16];
        words[..texel.len()].copy_from_slice(texel);
        std::array::from_fn(|index| u32::from_le_bytes(std::array::from_fn(|byte| words[4 * index + byte])))
    })
}

/// Rounds a component of a texel of an ASTC block, as bits of a float, down to a code of 8 bits.
/// The result is the component that a decoder of 8-bit texels returns.
///
/// Source: Khronos Data Format Specification, "ASTC", "LDR and HDR Profile Decode Modes".
pub fn rounded_to_code(component: u32) -> u32 {
    let code = (f32::from_bits(component) * 256.0).floor().clamp(0.0, 255.0);
    unorm_to_f32(code as u32, 8).to_bits()
}

/// Calls `work` with the decoded format and the bytes of a texel, and returns its result.
fn with_texel(
    of: &FormatInfo,
    block: &[u8; 16],
    [x, y]: [u32; 2],
    work: impl FnOnce(&FormatInfo, &[u8]) -> Texel,
) -> Texel {
    let [width, height] = of.block_extent();
    let decoded_as = decoded_format(of).expect("a compressed format");
    let bytes = decoded_as.bytes as usize;
    let start = (y % height * width + x % width) as usize * bytes;
    let word = u128::from_le_bytes(*block);
    let hash = ((word ^ word >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
    DECODED.with_borrow_mut(|kept| {
        kept.resize_with(KEPT, || None);
        let slot = &mut kept[hash as usize % KEPT];
        if slot.as_ref().is_none_or(|known| known.block != *block || known.format != of.format) {
            let mut texels = SmallVec::from_elem(0, (width * height) as usize * bytes);
            decode_block(of, block, &mut texels);
            *slot = Some(Decoded { format: of.format, block: *block, texels });
        }
        let texels = slot.as_ref().map_or(&[][..], |known| &known.texels);
        work(decoded_as, &texels[start..start + bytes])
    })
}

/// Decodes a block of `of.bytes` bytes into its texels, row by row.
///
/// The texels have the format that [`decoded_format`] returns.
///
/// # Panics
/// Panics if `block` or `out` is too short, or if the format is not compressed.
pub fn decode_block(of: &FormatInfo, block: &[u8], out: &mut [u8]) {
    let signed = of.class == Class::Snorm;
    match of.compression.expect("a compressed format") {
        Compression::Bc1Rgb => {
            bcdec_rs::bc1(block, out, 16);
            out.chunks_exact_mut(4).for_each(|texel| texel[3] = 255);
        }
        Compression::Bc1Rgba => bcdec_rs::bc1(block, out, 16),
        Compression::Bc2 => bcdec_rs::bc2(block, out, 16),
        Compression::Bc3 => bcdec_rs::bc3(block, out, 16),
        Compression::Bc7 => bcdec_rs::bc7(block, out, 16),
        Compression::Bc4 => put(out, bc_channel(block, signed).map(f32::to_le_bytes)),
        Compression::Bc5 => {
            let [red, green] = [block, &block[8..]].map(|half| bc_channel(half, signed).map(f32::to_le_bytes));
            put_pairs(out, red, green);
        }
        Compression::Bc6hUfloat => half_rgb(block, false, out),
        Compression::Bc6hSfloat => half_rgb(block, true, out),
        Compression::Etc2Rgb => put(out, etc::color(half(block, 0), false)),
        Compression::Etc2RgbA1 => put(out, etc::color(half(block, 0), true)),
        Compression::Etc2Rgba => {
            put(out, etc::color(half(block, 8), false));
            out.chunks_exact_mut(4).zip(etc::alpha(half(block, 0))).for_each(|(texel, alpha)| texel[3] = alpha);
        }
        Compression::EacR11 => put(out, eac_channel(half(block, 0), signed)),
        Compression::EacRg11 => {
            put_pairs(out, eac_channel(half(block, 0), signed), eac_channel(half(block, 8), signed))
        }
        Compression::Astc(..) => astc(of, block, out),
    }
}

/// Returns the eight bytes of a block from `first` on.
fn half(block: &[u8], first: usize) -> [u8; 8] {
    std::array::from_fn(|index| block[first + index])
}

/// Writes the texels to `out`, one after the other.
fn put<const N: usize>(out: &mut [u8], texels: [[u8; N]; 16]) {
    for (out, texel) in out.chunks_exact_mut(N).zip(texels) {
        out.copy_from_slice(&texel);
    }
}

/// Writes texels of two components to `out`, one after the other.
fn put_pairs<const N: usize>(out: &mut [u8], red: [[u8; N]; 16], green: [[u8; N]; 16]) {
    for (out, texel) in out.chunks_exact_mut(2 * N).zip(red.into_iter().zip(green)) {
        out[..N].copy_from_slice(&texel.0);
        out[N..].copy_from_slice(&texel.1);
    }
}

fn eac_channel(block: [u8; 8], signed: bool) -> [[u8; 2]; 16] {
    if signed { etc::signed11(block).map(i16::to_le_bytes) } else { etc::unsigned11(block).map(u16::to_le_bytes) }
}

fn astc(of: &FormatInfo, block: &[u8], out: &mut [u8]) {
    let mode = match of.class {
        Class::Srgb => Mode::Srgb,
        Class::Sfloat => Mode::HighRange,
        _ => Mode::Linear,
    };
    let block = u128::from(u64::from_le_bytes(half(block, 8))) << 64 | u128::from(u64::from_le_bytes(half(block, 0)));
    let texels = astc::decode(block, of.block_extent(), mode);
    let components = texels.as_flattened();
    match mode {
        Mode::Srgb => out.iter_mut().zip(components).for_each(|(out, &code)| *out = code as u8),
        _ => out.chunks_exact_mut(2).zip(components).for_each(|(out, code)| out.copy_from_slice(&code.to_le_bytes())),
    }
}

/// Decodes one BC4 channel: two end points, six or four values between them, sixteen 3-bit
/// indices.
fn bc_channel(block: &[u8], signed: bool) -> [f32; 16] {
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
    std::array::from_fn(|texel| value((choices >> (texel * 3)) as u8 & 7))
}

fn half_rgb(block: &[u8], signed: bool, out: &mut [u8]) {
    let mut halves = [0u16; 48];
    bcdec_rs::bc6h_half(block, &mut halves, 12, signed);
    let opaque = |rgb: &[u16]| [rgb[0], rgb[1], rgb[2], half::f16::ONE.to_bits()].map(u16::to_le_bytes);
    for (out, rgb) in out.chunks_exact_mut(8).zip(halves.chunks_exact(3)) {
        out.copy_from_slice(opaque(rgb).as_flattened());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all texels of a block as floats.
    fn texels(format: vk::Format, block: &[u8]) -> Vec<[f32; 4]> {
        let of = info(format).unwrap();
        let decoded_as = decoded_format(of).unwrap();
        let [width, height] = of.block_extent();
        let mut out = vec![0; (width * height * decoded_as.bytes) as usize];
        decode_block(of, &block[..of.bytes as usize], &mut out);
        out.chunks(decoded_as.bytes as usize).map(|texel| decode(decoded_as, texel).map(f32::from_bits)).collect()
    }

    #[test]
    fn kept_blocks_are_those_that_were_asked_for() {
        let formats = [vk::Format::BC1_RGBA_UNORM_BLOCK, vk::Format::BC1_RGB_SRGB_BLOCK, vk::Format::BC4_SNORM_BLOCK];
        for number in 0..3000u32 {
            let info = info(formats[number as usize % 3]).unwrap();
            let mut block = [0; 16];
            block[..8].copy_from_slice(&u64::from(number / 9 % 700).wrapping_mul(0x1234_5678_9abc_def1).to_le_bytes());
            let (x, y) = (number % 5, number % 7);
            let expected = texels(info.format, &block)[(y % 4 * 4 + x % 4) as usize];
            assert_eq!(block_texel(info, &block, x, y).map(f32::from_bits), expected);
        }
    }

    #[test]
    fn texels_of_low_precision_have_the_upper_bits() {
        // Void-extent blocks have their components as 16 bits.
        let head = (!0u64 << 12 | 0xdfc).to_le_bytes();
        for component in (0..=u16::MAX).step_by(7).chain([u16::MAX]) {
            let block: Vec<u8> = head.into_iter().chain(component.to_le_bytes().repeat(4)).collect();
            let found = texels(vk::Format::ASTC_4X4_UNORM_BLOCK, &block)[5][2];
            let expected = f32::from(component >> 8) / 255.0;
            assert_eq!(f32::from_bits(rounded_to_code(found.to_bits())), expected, "{component}");
        }
    }

    #[test]
    fn bc1_end_points_and_transparency() {
        // End points are blue and red in 5:6:5 bits. The first is smaller, so index 3 is
        // transparent black.
        let block = [0x1f, 0x00, 0x00, 0xf8, 0b11_10_01_00, 0, 0, 0];
        let found = texels(vk::Format::BC1_RGBA_UNORM_BLOCK, &block);
        assert_eq!(found[0], [0.0, 0.0, 1.0, 1.0]);
        assert_eq!(found[1], [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(found[3], [0.0; 4]);
        let opaque = texels(vk::Format::BC1_RGB_UNORM_BLOCK, &block);
        assert_eq!(opaque[3][3], 1.0);
    }

    #[test]
    fn bc4_interpolates_between_its_end_points() {
        let unsigned = texels(vk::Format::BC4_UNORM_BLOCK, &[255, 0, 0b1000_1000, 0, 0, 0, 0, 0]);
        assert_eq!(unsigned[0][0], 1.0);
        assert_eq!(unsigned[1][0], 0.0);
        assert!((unsigned[2][0] - 6.0 / 7.0).abs() < 1e-6);
        let signed = texels(vk::Format::BC4_SNORM_BLOCK, &[0x81, 0x7f, 0b1000_1000, 0, 0, 0, 0, 0]);
        assert_eq!(signed[0][0], -1.0);
        assert_eq!(signed[1][0], 1.0);
    }
}
