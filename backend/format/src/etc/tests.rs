//! Tests of blocks against an independent decoder and against the specification's examples.

use proptest::prelude::*;

use super::*;

/// Decodes a block with the crate `texture2ddecoder`: red to alpha, row by row.
fn by_other(block: &[u8], decode: fn(&[u8], &mut [u32])) -> Block<[u8; 4]> {
    let mut out = [0; 16];
    decode(block, &mut out);
    out.map(|word| {
        let [blue, green, red, alpha] = word.to_le_bytes();
        [red, green, blue, alpha]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn colors_are_those_of_another_decoder(block: [u8; 8]) {
        prop_assert_eq!(color(block, false), by_other(&block, texture2ddecoder::decode_etc2_rgb_block));
        let found = color(block, true);
        let other = by_other(&block, texture2ddecoder::decode_etc2_rgba1_block);
        // The specification requires transparent texels to be black.
        let other = other.map(|texel| if texel[3] == 0 { [0; 4] } else { texel });
        prop_assert_eq!(found, other);
    }

    #[test]
    fn alpha_is_that_of_another_decoder(block: [u8; 16]) {
        let found = alpha(std::array::from_fn(|index| block[index]));
        let other = by_other(&block, texture2ddecoder::decode_etc2_rgba8_block);
        prop_assert_eq!(found, other.map(|texel| texel[3]));
    }

    /// Channels follow the formula with real numbers, from which the specification derives its
    /// integer formula.
    #[test]
    fn channels_of_11_bits_follow_the_formula(block: [u8; 8]) {
        let (table, multiplier) = (MODIFIERS[usize::from(block[1] & 15)], f64::from(block[1] >> 4));
        let multiplier = if multiplier == 0.0 { 0.125 } else { multiplier };
        let (unsigned, signed) = (unsigned11(block), signed11(block));
        for (texel, (unsigned, signed)) in unsigned.into_iter().zip(signed).enumerate() {
            let place = (texel % 4 * 4 + texel / 4) * 3;
            let bit = |number: usize| usize::from(block[2 + number / 8] >> (7 - number % 8) & 1);
            let index = bit(place) * 4 + bit(place + 1) * 2 + bit(place + 2);
            let modifier = f64::from(if index < 4 { -table[index] } else { table[index - 4] - 1 });
            let value = ((f64::from(block[0]) + 0.5 + modifier * multiplier) / 255.875).clamp(0.0, 1.0);
            prop_assert!((f64::from(unsigned) / 65535.0 - value).abs() < 1.0 / 65535.0);
            let base = f64::from(block[0] as i8).max(-127.0);
            let value = ((base + modifier * multiplier) / 127.875).clamp(-1.0, 1.0);
            prop_assert!((f64::from(signed) / 32767.0 - value).abs() < 1.0 / 32767.0);
        }
    }
}

/// Returns an EAC block of table 13 whose texel below the first has index 3.
fn example(base: u8, multiplier: u8) -> [u8; 8] {
    [base, multiplier << 4 | 13, 0x0c, 0, 0, 0, 0, 0]
}

#[test]
fn the_specifications_examples_of_eac() {
    // The 11-bit values are 668, 818 and (signed) 320 and 470. The second texel of a column is the
    // fifth in the order of rows.
    assert_eq!(unsigned11(example(103, 2))[4], 21386);
    assert_eq!(unsigned11(example(103, 0))[4], 818 << 5 | 818 >> 6);
    assert_eq!(signed11(example(60, 2))[4], 320 << 5 | 320 >> 5);
    assert_eq!(signed11(example(60, 0))[4], 15054);
    assert_eq!(alpha(example(103, 2))[4], 83);
    // A signed base of -128 equals -127.
    assert_eq!(signed11(example(0x80, 1)), signed11(example(0x81, 1)));
}

#[test]
fn the_specifications_example_of_a_plane() {
    let fields: [(u64, u32); 13] = [
        (12, 57),
        (64 >> 6, 56),
        (64 & 63, 49),
        (62 >> 5, 48),
        (62 >> 3 & 3, 43),
        (62 & 7, 39),
        (50 >> 1, 34),
        (1, 33),
        (50 & 1, 32),
        (5, 25),
        (37, 19),
        (40, 13),
        (112 << 6 | 45, 0),
    ];
    let word = fields.iter().fold(0, |word, (value, low)| word | value << low);
    // The fill of unused bits must be such that only the sum of blue leaves its range.
    let unused =
        |fill: u64| (0..).zip([63, 55, 47, 46, 45, 42]).fold(0, |bits, (index, low)| bits | (fill >> index & 1) << low);
    let blocks = (0..64).map(|fill| color((word | unused(fill)).to_be_bytes(), false));
    let texels = blocks.into_iter().find(|texels| texels[0] == [48, 129, 251, 255]).expect("a plane");
    assert_eq!(
        [texels[1], texels[4], texels[15]].map(|[r, g, b, _]| [r, g, b]),
        [[87, 99, 226], [77, 153, 234], [250, 112, 124]]
    );
}
