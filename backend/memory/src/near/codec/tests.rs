//! Tests of the codec: round trips of typical and arbitrary lines, equality of all
//! implementations, and compressed sizes.

use ash::vk;
use proptest::prelude::*;
use vitric_format as format;

use super::*;

fn color(format: vk::Format) -> Codec {
    Codec::of_color(format::info(format).unwrap())
}

fn codecs() -> Vec<Codec> {
    let formats = [
        vk::Format::R8_UNORM,
        vk::Format::R8G8_UNORM,
        vk::Format::R8G8B8A8_UNORM,
        vk::Format::R8G8B8_UNORM,
        vk::Format::R5G6B5_UNORM_PACK16,
        vk::Format::R4G4_UNORM_PACK8,
        vk::Format::A2B10G10R10_UNORM_PACK32,
        vk::Format::B10G11R11_UFLOAT_PACK32,
        vk::Format::E5B9G9R9_UFLOAT_PACK32,
        vk::Format::R16_SFLOAT,
        vk::Format::R16G16_SFLOAT,
        vk::Format::R16G16B16A16_SFLOAT,
        vk::Format::R32_SFLOAT,
        vk::Format::R32G32_SFLOAT,
        vk::Format::R32G32B32A32_SFLOAT,
        vk::Format::BC1_RGB_UNORM_BLOCK,
    ];
    let depths = [16, 24, 32].map(Codec::of_depth);
    formats.map(color).into_iter().chain(depths).chain([Codec::of_bytes()]).collect()
}

/// Returns the implementations that the machine can run.
fn widths() -> Vec<Width> {
    #[cfg(target_arch = "x86_64")]
    match Width::of_machine() {
        Width::Avx512 => return vec![Width::Avx512, Width::Avx2, Width::Portable],
        Width::Avx2 => return vec![Width::Avx2, Width::Portable],
        Width::Portable => {}
    }
    vec![Width::Portable]
}

/// Encodes and decodes a line with every implementation, and checks that they agree and restore
/// the line.
fn check(codec: &Codec, line: &Line) -> Control {
    let mut coded = Line([0xa5a5_a5a5; LINE_WORDS]);
    let control = codec.encode(line, &mut coded);
    assert!(coded.bytes()[control.bytes()..].iter().all(|&byte| byte == 0xa5), "no more is written than it takes");
    for width in widths() {
        let codec = Codec { width, ..*codec };
        let (mut again, mut back) = (Line::ZERO, Line([7; LINE_WORDS]));
        assert_eq!(codec.encode(line, &mut again), control, "{codec:?}");
        assert_eq!(again.bytes()[..control.bytes()], coded.bytes()[..control.bytes()], "{codec:?}");
        codec.decode(control, &coded, &mut back);
        assert!(back == *line, "{codec:?} {control:?}");
    }
    control
}

/// Returns a line of 8x8 texels of four bytes.
fn of_texels(texel: impl Fn(u32, u32) -> u32) -> Line {
    let mut line = Line::ZERO;
    for (x, y) in (0..64).map(|place| (place % 8, place / 8)) {
        line.0[Shape::Words.word(x, y)] = texel(x as u32, y as u32);
    }
    line
}

fn hashed(seed: u32) -> u32 {
    let word = seed.wrapping_mul(0x9e37_79b9) ^ 0x85eb_ca6b;
    let word = (word ^ word >> 15).wrapping_mul(0x2c1b_3c6d);
    (word ^ word >> 12).wrapping_mul(0x297a_2d39)
}

#[test]
fn lines_of_one_value_take_one_sub_block() {
    for codec in codecs() {
        for value in [0, u32::MAX, 0x3f80_0000, 0x1234_5678] {
            // Constant lines of texels of up to four bytes, or of larger texels with equal words.
            assert_eq!(check(&codec, &Line([value; LINE_WORDS])), Control::One, "{codec:?}");
        }
    }
    let wide = Line(std::array::from_fn(|word| 0x3f00_0000 + (word as u32 % 4) * 77));
    assert_eq!(check(&color(vk::Format::R32G32B32A32_SFLOAT), &wide), Control::One);
    assert_eq!(check(&color(vk::Format::R16G16B16A16_SFLOAT), &wide), Control::One);
}

/// Typical gradients of a rendered image: three channels with different slopes, and depth with any
/// slope.
#[test]
fn gradients_take_one_sub_block() {
    let rgba = color(vk::Format::R8G8B8A8_UNORM);
    for (across, down) in [(0.4, 0.7), (-1.3, 2.2), (3.6, -0.1), (7.9, 7.9)] {
        let channel =
            |x: u32, y: u32, scale: f32| (128.0 + scale * (x as f32 * across + y as f32 * down)) as u32 & 0xff;
        let line =
            of_texels(|x, y| channel(x, y, 1.0) | channel(x, y, 0.5) << 8 | channel(x, y, -0.8) << 16 | 0xff00_0000);
        assert_eq!(check(&rgba, &line), Control::One, "{across} {down}");
    }
    for (across, down) in [(1e-4, 3e-4), (-2e-5, 1e-3), (0.01, -0.01)] {
        let depth = |x: u32, y: u32| 0.7f32 + across * x as f32 + down * y as f32;
        assert_eq!(check(&Codec::of_depth(32), &of_texels(|x, y| depth(x, y).to_bits())), Control::One);
        let line = of_texels(|x, y| (f64::from(depth(x, y)) * 16_777_215.0) as u32);
        assert_eq!(check(&Codec::of_depth(24), &line), Control::One);
        let mut line = Line::ZERO;
        for (x, y) in (0..128).map(|place| (place % 16, place / 16)) {
            // The line holds two blocks of 8x8 texels of two bytes.
            let (block, x) = (x / 8, x % 8);
            let code = (depth(x as u32 + 8 * block as u32, y as u32) * 65535.0) as u16;
            let word = Shape::Pairs.word(block * 4 + x / 2, y);
            line.0[word] |= u32::from(code) << (16 * (x % 2));
        }
        assert_eq!(check(&Codec::of_depth(16), &line), Control::One);
    }
}

#[test]
fn edges_between_two_colours_take_one_sub_block() {
    let line = of_texels(|x, y| if x * 3 + y > 11 { 0xff10_a0c0 } else { 0x80ff_0013 });
    assert_eq!(check(&color(vk::Format::R8G8B8A8_UNORM), &line), Control::One);
    let wide = |period: usize| {
        let texels = [[1.0f32, -3.5, 0.1, 1e9], [0.3, 7.0, 1e-3, 2.0]];
        Line(std::array::from_fn(|word| texels[hashed((word / period) as u32) as usize % 2][word % period].to_bits()))
    };
    assert_eq!(check(&color(vk::Format::R32G32B32A32_SFLOAT), &wide(4)), Control::One);
    assert_eq!(check(&color(vk::Format::R32G32_SFLOAT), &wide(2)), Control::One);
}

#[test]
fn noise_is_stored_raw() {
    for codec in codecs() {
        let line = Line(std::array::from_fn(|word| hashed(word as u32 + 99)));
        let mut coded = Line::ZERO;
        assert_eq!(codec.encode(&line, &mut coded), Control::Raw);
        assert_eq!(coded, line);
        check(&codec, &line);
    }
}

/// Noise of few bits on a constant or a gradient takes the size of its bits.
#[test]
fn sizes_follow_residuals() {
    let rgba = color(vk::Format::R8G8B8A8_UNORM);
    let noisy = |mask: u32| of_texels(|x, y| 0x4040_4040 + (hashed(x * 8 + y) & mask));
    // Header and base take 4 bytes each, and each bit of residuals takes 8 bytes. A sign is one
    // bit.
    assert_eq!(check(&rgba, &noisy(0x0000_0103)), Control::One);
    assert_eq!(check(&rgba, &noisy(0x0003_0303)), Control::Two);
    assert_eq!(check(&rgba, &noisy(0x000f_0f0f)), Control::Two);
    assert_eq!(check(&rgba, &noisy(0x0f0f_0f0f)), Control::Three);
    assert_eq!(check(&rgba, &noisy(0x3f3f_3f3f)), Control::Raw);
}

/// Returns lines with typical contents of surfaces: values near each other, few values, values
/// that repeat.
fn plausible() -> impl Strategy<Value = Line> {
    let near =
        (any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>()).prop_map(|(base, x, y, mask, seed)| {
            of_texels(|column, row| {
                let noise = hashed(seed ^ (row * 8 + column)) & mask & mask.rotate_left(7) & mask.rotate_left(15);
                base.wrapping_add(x.wrapping_mul(column)).wrapping_add(y.wrapping_mul(row)) ^ noise
            })
        });
    let few = (prop::array::uniform4(any::<u32>()), any::<u64>(), any::<u64>()).prop_map(|(values, a, b)| {
        Line(std::array::from_fn(|word| values[((a >> word & 1) + 2 * (b >> word & b >> (word / 2) & 1)) as usize]))
    });
    let repeated = (prop::collection::vec(any::<u8>(), 1..20)).prop_map(|bytes| {
        let mut line = Line::ZERO;
        line.bytes_mut().iter_mut().enumerate().for_each(|(at, byte)| *byte = bytes[at % bytes.len()]);
        line
    });
    prop_oneof![near, few, repeated]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn plausible_lines_come_back(line in plausible()) {
        for codec in codecs() {
            check(&codec, &line);
        }
    }

    #[test]
    fn any_bytes_come_back(words in prop::array::uniform32(any::<u32>()), mask: u32, halves: bool) {
        let line = Line(std::array::from_fn(|word| words[if halves { word / 2 } else { word % 32 }] & mask));
        for codec in codecs() {
            check(&codec, &line);
        }
    }

    /// Arbitrary bytes that no encoder wrote decode to the same line with every implementation.
    #[test]
    fn anything_decodes(words in prop::array::uniform32(any::<u32>()), mode in 0u32..5, control in 0u64..3, mask: u32) {
        let mut coded = Line(std::array::from_fn(|word| words[word % 32]));
        coded.0[0] = mode | (coded.0[0] & mask) << 8;
        for codec in codecs() {
            let mut first = None;
            for width in widths() {
                let mut line = Line([7; LINE_WORDS]);
                Codec { width, ..codec }.decode(Control::of_bits(control), &coded, &mut line);
                prop_assert_eq!(*first.get_or_insert(line), line);
            }
        }
    }
}

/// Default number of units of work, as of the other fuzz targets.
const UNITS: u32 = 150_000;

/// Units of work for each round of adversarial lines.
const SHARE: u32 = 40;

fn number(variable: &str, default: u32) -> u32 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Returns lines at the limits of what the codec's modes can hold, made from a seed: residuals of
/// every number of bits, of which one or all have the extreme value; values that wrap; two or three
/// values of which one is at a few places; and halves of different kinds.
fn adversarial(seed: u32) -> Vec<Line> {
    let word = |number: u32| hashed(seed.wrapping_mul(131).wrapping_add(number));
    let (base, across, down) = (word(0), word(1) >> (word(2) % 32), word(3) >> (word(4) % 32));
    let plane = |x: u32, y: u32| base.wrapping_add(across.wrapping_mul(x)).wrapping_add(down.wrapping_mul(y));
    let bits = word(5) % 33;
    let extreme = if bits == 32 { u32::MAX } else { (1 << bits) - 1 };
    let alone = word(6) % 64;
    let mut lines = vec![
        of_texels(|x, y| plane(x, y) ^ if x + 8 * y == alone { extreme } else { 0 }),
        of_texels(|x, y| plane(x, y).wrapping_add(if word(7 + x + 8 * y) & 1 == 0 { extreme } else { 0 })),
        of_texels(|x, y| plane(x, y).wrapping_sub(word(7 + x + 8 * y) & extreme)),
        // One byte of each texel is noise.
        of_texels(|x, y| {
            plane(x, y) & !(0xff << (word(5) % 4 * 8)) | (word(80 + x * 8 + y) & 0xff) << (word(5) % 4 * 8)
        }),
        // The least and greatest numbers alternate.
        of_texels(|x, y| if (x ^ y) & 1 == 0 { 0x7fff_ffff } else { 0x8000_0000u32.wrapping_add(extreme) }),
    ];
    let values = [base, base ^ extreme, word(90)];
    let few = |word_of: usize| values[(word(100 + word_of as u32) as usize >> (seed % 7)) % (2 + (seed % 2) as usize)];
    lines.push(Line(std::array::from_fn(few)));
    let halves = [lines[(word(91) % 5) as usize], lines[(word(92) % 6) as usize]];
    lines.push(Line(std::array::from_fn(|at| halves[at * 2 / LINE_WORDS].0[at])));
    let mut shifted = lines[(word(93) % 6) as usize];
    shifted.bytes_mut().rotate_left((word(94) % 8) as usize);
    lines.push(shifted);
    lines
}

/// Fuzz target of the codec. `VITRIC_FUZZ=COUNT` and `VITRIC_FUZZ_SEED=NUMBER` select longer and
/// other runs.
#[test]
fn adversarial_lines_come_back() {
    let (first, rounds) = (number("VITRIC_FUZZ_SEED", 1) << 20, number("VITRIC_FUZZ", UNITS).div_ceil(SHARE));
    let codecs = codecs();
    let mut seen = [0u32; Control::ALL.len()];
    for line in (first..first + rounds).flat_map(adversarial) {
        codecs.iter().for_each(|codec| seen[check(codec, &line) as usize] += 1);
    }
    assert!(seen.iter().all(|&count| count > 0), "lines of too few sizes: {seen:?}");
}
