//! Fuzz target of compressed blocks: random blocks of every format, and blocks with few bits set.
//! No block may cause a panic, every way of decoding gives equal texels, and blocks of BC formats
//! have the texels of an independent decoder.
//!
//! The number of blocks and the seed are fixed. `VITRIC_FUZZ=COUNT` and `VITRIC_FUZZ_SEED=NUMBER`
//! select longer and other runs. Blocks of ETC2 and EAC are compared in `etc/tests.rs`, blocks of
//! ASTC with golden ones of Arm's decoder in `astc/tests.rs`.

use ash::vk;
use vitric_format::{
    FormatInfo, MAX_DECODED, all, block_texel, block_words, decode, decode_block, decoded_format, info,
};

/// Default number of units of work, as of the other fuzz targets.
const UNITS: u64 = 150_000;

/// Units of work for each block of each format.
const SHARE: u64 = 30;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Pseudorandom number generator (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a block: random bits, few bits, many bits, or random bits after a low byte with one
    /// bit, which selects a mode of BC7.
    fn block(&mut self) -> [u8; 16] {
        let mut word = || u128::from(self.next().rotate_left(32)) << 64 | u128::from(self.next().rotate_left(32));
        let (a, b, c, kind) = (word(), word(), word(), word() % 5);
        let bits = match kind {
            0 | 1 => a,
            2 => a & b & c,
            3 => a | b | c,
            _ => a & !0xff | 1 << (b % 8),
        };
        bits.to_le_bytes()
    }
}

/// Returns all compressed formats.
fn formats() -> Vec<&'static FormatInfo> {
    let found: Vec<_> = all().filter(|format| format.compression.is_some()).collect();
    assert!(found.len() > 40);
    found
}

#[test]
fn any_block_of_any_format_decodes() {
    let (mut numbers, count) = (Numbers(number("VITRIC_FUZZ_SEED", 1) | 1 << 42), number("VITRIC_FUZZ", UNITS));
    for format in formats() {
        let [width, height] = format.block_extent();
        let decoded = decoded_format(format).unwrap();
        let bytes = decoded.bytes as usize;
        for _ in 0..count.div_ceil(SHARE) {
            let mut block = numbers.block();
            block[format.bytes as usize..].fill(0);
            let mut out = vec![0xa5; (width * height) as usize * bytes];
            assert!(out.len() <= MAX_DECODED);
            decode_block(format, &block[..format.bytes as usize], &mut out);
            let number = numbers.next() as u32;
            let (x, y) = (number % width, number / width % height);
            let texel = &out[(y * width + x) as usize * bytes..][..bytes];
            let words = block_words(format, &block, x, y);
            let texel_of_words: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).take(bytes).collect();
            assert_eq!(texel_of_words, texel, "{:?} {block:x?}", format.format);
            assert_eq!(block_texel(format, &block, x, y), decode(decoded, texel), "{:?} {block:x?}", format.format);
        }
    }
}

/// Function of the crate `texture2ddecoder` that decodes a block.
type Decoder = fn(&[u8], &mut [u32]);

/// Returns the texels of a block by the crate `texture2ddecoder`: red to alpha, row by row.
fn by_other(block: &[u8; 16], decode: Decoder) -> [[u8; 4]; 16] {
    let mut out = [0xff00_0000; 16];
    decode(block, &mut out);
    out.map(|word| {
        let [blue, green, red, alpha] = word.to_le_bytes();
        [red, green, blue, alpha]
    })
}

/// Decodes a block to codes of 8 bits.
fn codes(format: vk::Format, block: &[u8; 16]) -> [[u8; 4]; 16] {
    let format = info(format).unwrap();
    let mut out = [0; 64];
    decode_block(format, &block[..format.bytes as usize], &mut out);
    std::array::from_fn(|texel| std::array::from_fn(|channel| out[texel * 4 + channel]))
}

/// Checks that texels differ by at most `distance` in each channel.
fn assert_near(found: [[u8; 4]; 16], other: [[u8; 4]; 16], distance: u8, name: (vk::Format, &[u8; 16])) {
    for (found, other) in found.as_flattened().iter().zip(other.as_flattened()) {
        assert!(found.abs_diff(*other) <= distance, "{name:x?}: {found} and {other}");
    }
}

#[test]
fn blocks_of_bc_formats_are_those_of_another_decoder() {
    let mut numbers = Numbers(number("VITRIC_FUZZ_SEED", 1) | 1 << 43);
    // Decoders may round colours between the end points of BC1 to BC3 in different ways. BC7 is
    // exact.
    let formats: [(vk::Format, Decoder, u8); 4] = [
        (vk::Format::BC1_RGBA_UNORM_BLOCK, texture2ddecoder::decode_bc1a_block, 1),
        (vk::Format::BC2_UNORM_BLOCK, texture2ddecoder::decode_bc2_block, 1),
        (vk::Format::BC3_UNORM_BLOCK, texture2ddecoder::decode_bc3_block, 1),
        (vk::Format::BC7_UNORM_BLOCK, texture2ddecoder::decode_bc7_block, 0),
    ];
    for _ in 0..number("VITRIC_FUZZ", UNITS).div_ceil(SHARE / 10) {
        let block = numbers.block();
        for (format, decode, distance) in formats {
            // A block of BC7 without a mode is black and transparent.
            if format == vk::Format::BC7_UNORM_BLOCK && block[0] == 0 {
                assert_eq!(codes(format, &block), [[0; 4]; 16]);
                continue;
            }
            // The other decoder reads the colours of BC2 and BC3 like those of BC1, which are three
            // and black unless the first end point is greater.
            let is_of_bc1 = u16::from_le_bytes([block[8], block[9]]) <= u16::from_le_bytes([block[10], block[11]]);
            if is_of_bc1 && matches!(format, vk::Format::BC2_UNORM_BLOCK | vk::Format::BC3_UNORM_BLOCK) {
                continue;
            }
            assert_near(codes(format, &block), by_other(&block, decode), distance, (format, &block));
        }
        // Values of BC4 are exact here, and codes of 8 bits there.
        let mut out = [0; 64];
        decode_block(info(vk::Format::BC4_UNORM_BLOCK).unwrap(), &block[..8], &mut out);
        let other = by_other(&block, texture2ddecoder::decode_bc4_block);
        for (texel, other) in out.chunks_exact(4).zip(other) {
            let value = f32::from_le_bytes(texel.try_into().unwrap());
            assert!((value * 255.0 - f32::from(other[0])).abs() <= 1.0, "{block:x?}: {value} and {}", other[0]);
        }
    }
}
