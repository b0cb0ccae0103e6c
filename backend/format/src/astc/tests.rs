//! Tests of blocks against results of Arm's decoder (`golden.bin`, written by `golden.py`), and of
//! single values.

use proptest::prelude::*;

use super::*;

const GOLDEN: &[u8] = include_bytes!("golden.bin");
const RECORD: usize = 3 + 16 + 8;

fn digest(components: impl Iterator<Item = u16>) -> u64 {
    let bytes = components.flat_map(u16::to_le_bytes);
    bytes.fold(0xcbf2_9ce4_8422_2325, |value, byte| (value ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn blocks_decode_as_by_arms_decoder() {
    assert_eq!(GOLDEN.len() % RECORD, 0);
    let mut wrong = 0;
    for record in GOLDEN.chunks_exact(RECORD) {
        let mode = [Mode::Linear, Mode::Srgb, Mode::HighRange][usize::from(record[0])];
        let size = [u32::from(record[1]), u32::from(record[2])];
        let block = u128::from_le_bytes(record[3..19].try_into().unwrap());
        let mut texels = decode(block, size, mode);
        if mode == Mode::Srgb {
            texels.iter_mut().for_each(|texel| texel[3] = 0);
        }
        let got = digest(texels[..(size[0] * size[1]) as usize].as_flattened().iter().copied());
        if got != u64::from_le_bytes(record[19..].try_into().unwrap()) {
            println!("{mode:?} {size:?} {block:032x}: {:x?}", &texels[..4]);
            wrong += 1;
        }
    }
    assert_eq!(wrong, 0);
}

#[test]
fn low_range_becomes_half_rounded_towards_zero() {
    for value in 0..=u16::MAX {
        let half = half::f16::from_bits(low_range(value, Mode::Linear)).to_f64();
        let exact = if value == u16::MAX { 1.0 } else { f64::from(value) / 65536.0 };
        let next = half::f16::from_bits(low_range(value, Mode::Linear) + 1).to_f64();
        assert!(half <= exact && exact < next, "{value}: {half}");
    }
}

#[test]
fn high_range_grows_and_stays_finite() {
    let values: Vec<u16> = (0..=u16::MAX).map(high_range).collect();
    assert!(values.is_sorted() && values[0] == 0 && values[0xffff] == 0x7bff);
    // The specification defines the logarithm 0x7800 as 1.
    assert_eq!(values[0x7800], HALF_ONE);
}

proptest! {
    #[test]
    fn any_block_decodes(low: u64, high: u64, size in 0usize..14, mode in 0usize..3) {
        let size = [[4, 4], [5, 4], [5, 5], [6, 5], [6, 6], [8, 5], [8, 6], [8, 8], [10, 5], [10, 6], [10, 8], [10, 10],
            [12, 10], [12, 12]][size];
        let mode = [Mode::Linear, Mode::Srgb, Mode::HighRange][mode];
        let block = u128::from(high) << 64 | u128::from(low);
        let texels = decode(block, size, mode);
        let limit = if mode == Mode::Srgb { 0x100 } else { 0x7c00 };
        let is_constant = block & 0x1ff == 0x1fc;
        prop_assert!(is_constant || texels.as_flattened().iter().all(|&component| component < limit));
        // sRGB codes differ from the linear mode's only in the last bit.
        if mode == Mode::Srgb {
            let linear = decode(block, size, Mode::Linear);
            for (code, linear) in texels.as_flattened().iter().zip(linear.as_flattened()) {
                let linear = half::f16::from_bits(*linear).to_f32() * 255.0;
                prop_assert!((f32::from(*code) - linear).abs() < 1.5);
            }
        }
    }
}
