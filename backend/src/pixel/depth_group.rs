//! The depth test of a whole group of 8x8 pixels: nothing but the comparison, of single floats or of codes in fixed point.

use ash::vk;

use super::inputs::depth_at;
use crate::format::depth_code;
use crate::geometry::Shape;
use crate::memory::PlaneRef;
use crate::raster::UNITS;
use crate::shader::runtime::kernels::{Lanes, Mask, WAVE, each, highest_bits, kernel, ones, spread};
use crate::state::DepthStencilState;

/// Depths of two rows of a group: a wave's lanes.
type Depths = [f32; WAVE];

/// Which outcomes of a comparison pass, ones or zeros: less, equal, greater, unordered.
type Outcomes = [u32; 4];

fn outcomes(op: vk::CompareOp) -> Outcomes {
    let [less, equal, greater, unordered] = match op {
        vk::CompareOp::LESS => [true, false, false, false],
        vk::CompareOp::EQUAL => [false, true, false, false],
        vk::CompareOp::LESS_OR_EQUAL => [true, true, false, false],
        vk::CompareOp::GREATER => [false, false, true, false],
        vk::CompareOp::NOT_EQUAL => [true, false, true, true],
        vk::CompareOp::GREATER_OR_EQUAL => [false, true, true, false],
        vk::CompareOp::ALWAYS => [true; 4],
        _ => [false; 4],
    };
    [less, equal, greater, unordered].map(ones)
}

/// Ones in lanes that pass.
#[inline(always)]
fn passing_lanes(new: &Depths, old: &Depths, [less, equal, greater, unordered]: Outcomes) -> Lanes {
    each(|lane| {
        let (new, old) = (new[lane], old[lane]);
        let nan = ones(new.is_nan() | old.is_nan());
        ones(new < old) & less | ones(new == old) & equal | ones(new > old) & greater | nan & unordered
    })
}

/// Two rows of a group to be tested: where their first pixel lies, and which pixels.
#[derive(Clone, Copy)]
struct Strip {
    x: u32,
    y: u32,
    pixels: u32,
    /// Where in each pixel the sample lies, 0 to 1.
    at: [f32; 2],
}

#[inline(always)]
fn depths(shape: &Shape, strip: Strip) -> Depths {
    let along =
        |first: u32, step: usize, axis: usize| (first + step as u32) as f32 - shape.reference[axis] + strip.at[axis];
    let mut depths = [0.0; WAVE];
    for (lane, depth) in depths.iter_mut().enumerate() {
        let (x, y) = (along(strip.x, lane / 4 * 2 + lane % 2, 0), along(strip.y, lane / 2 % 2, 1));
        *depth = depth_at(shape, x, y);
    }
    depths
}

/// Words that are stored after a test: the new ones of lanes that pass and are asked for, which are said, too.
#[inline(always)]
fn replaced(old: &Lanes, new: impl Fn(usize) -> u32, passes: &Lanes, pixels: u32) -> (Lanes, Mask) {
    let asked = spread(pixels);
    let passes = each(|lane| passes[lane] & asked[lane]);
    (each(|lane| new(lane) & passes[lane] | old[lane] & !passes[lane]), highest_bits(&passes))
}

#[inline(always)]
fn tested_lanes(words: &Lanes, shape: &Shape, strip: Strip, outcomes: Outcomes) -> (Lanes, Mask) {
    let new = depths(shape, strip);
    let passes = passing_lanes(&new, &words.map(f32::from_bits), outcomes);
    replaced(words, |lane| new[lane].to_bits(), &passes, strip.pixels)
}

#[inline(always)]
fn tested_code_lanes(words: &Lanes, shape: &Shape, strip: Strip, (outcomes, bits): (Outcomes, u32)) -> (Lanes, Mask) {
    let (depths, [less, equal, greater, _]) = (depths(shape, strip), outcomes);
    let greatest = (1 << bits) - 1;
    let new = each(|lane| depth_code(bits, depths[lane]));
    let passes = each(|lane| {
        let (new, old) = (new[lane], words[lane] & greatest);
        ones(new < old) & less | ones(new == old) & equal | ones(new > old) & greater
    });
    replaced(words, |lane| new[lane], &passes, strip.pixels)
}

kernel!(
    /// Tests pixels of two rows against the words that are stored. Gives what is to be stored, and the pixels that pass.
    tested, tested_lanes, (words: &Lanes, shape: &Shape, strip: Strip, outcomes: Outcomes) -> (Lanes, Mask)
);

kernel!(
    /// The same of codes with so many bits.
    tested_codes, tested_code_lanes,
    (words: &Lanes, shape: &Shape, strip: Strip, how: (Outcomes, u32)) -> (Lanes, Mask)
);

/// Depths that groups are tested against, and how many bits they have.
#[derive(Clone, Copy)]
pub(super) struct Stored<'a>(pub(super) &'a PlaneRef<'a>, pub(super) u32);

impl Stored<'_> {
    /// Whether the group at a pixel lies in one line.
    pub(super) fn has_line(self, [x, y]: [u32; 2]) -> bool {
        let Self(plane, bits) = self;
        if bits == 16 { plane.has_short_line(x, y) } else { plane.has_line(x, y) }
    }

    /// The words of two rows of a group whose line begins there.
    fn read(self, line: u64, rows: u64) -> Lanes {
        let Self(plane, bits) = self;
        if bits == 16 { plane.read_short_strip_at(line + rows * 32) } else { plane.read_strip_at(line + rows * 64) }
    }

    fn write(self, (line, rows): (u64, u64), words: &Lanes) {
        let Self(plane, bits) = self;
        if bits == 16 {
            plane.write_short_strip_at(line + rows * 32, words);
        } else {
            plane.write_strip_at(line + rows * 64, words);
        }
    }
}

/// Tests a sample of the pixels in `mask` of a group; the same as `depth_stencil::test` of each. The sample comes with its number
/// and its place in units, the group by its first pixel, where the attachment has a line. Returns the pixels that go on.
pub(super) fn test(
    state: &DepthStencilState,
    stored: Stored<'_>,
    shape: &Shape,
    ([x, y], sample, at): ([u32; 2], u32, [i64; 2]),
    mask: u64,
) -> u64 {
    let (outcomes, at) = (outcomes(state.depth_compare), at.map(|units| units as f32 / UNITS as f32));
    let line = stored.0.address(x, y, sample);
    let (mut left, mut rest) = (0, mask);
    while rest != 0 {
        let rows = rest.trailing_zeros() / 16;
        let strip = Strip { x, y: y + rows * 2, pixels: (mask >> (rows * 16)) as u32 & 0xffff, at };
        rest &= !(0xffff << (rows * 16));
        let words = stored.read(line, rows.into());
        let (words, passed) = match stored.1 {
            32 => tested(&words, shape, strip, outcomes),
            bits => tested_codes(&words, shape, strip, (outcomes, bits)),
        };
        if state.depth_write && passed != 0 {
            stored.write((line, rows.into()), &words);
        }
        left |= u64::from(passed) << (rows * 16);
    }
    left
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::inputs::depth_in_range;
    use super::*;
    use crate::shader::ir::BinaryOp;

    fn depth() -> impl Strategy<Value = f32> {
        prop_oneof![Just(f32::NAN), Just(0.0), Just(-0.0), Just(0.5), -1.0f32..2.0]
    }

    proptest! {
        #[test]
        fn every_comparison_passes_what_it_passes_of_one(
            new in prop::array::uniform16(depth()), old in prop::array::uniform16(depth()), op in 0i32..8,
        ) {
            let op = vk::CompareOp::from_raw(op);
            let mask = highest_bits(&passing_lanes(&new, &old, outcomes(op)));
            for pixel in 0..WAVE {
                prop_assert_eq!(mask >> pixel & 1 != 0, crate::pixel::compare(op, new[pixel], old[pixel]));
            }
        }

        #[test]
        fn depths_are_clamped_as_generated_code_does(
            own in depth(), near in prop::sample::select(vec![0.0f32, 0.5, 1.0]), far in prop::sample::select(vec![0.0f32, 0.5, 1.0]),
        ) {
            let shape = Shape { depth_range: [near, far], ..Shape::default() };
            let [own_bits, near, far] = [own, near, far].map(f32::to_bits);
            let clamped = BinaryOp::FMin.apply(far, BinaryOp::FMax.apply(near, own_bits));
            prop_assert_eq!(depth_in_range(&shape, own).to_bits(), clamped);
        }

        #[test]
        fn codes_are_tested_like_their_depths(
            origin in -0.5f32..1.5, slopes in [-0.1f32..0.1, -0.1f32..0.1], old in prop::array::uniform16(any::<u32>()),
            op in 0i32..8, pixels in 0u32..0x10000, bits in prop::sample::select(vec![16u32, 24]), near in any::<bool>(),
        ) {
            let op = vk::CompareOp::from_raw(op);
            let depth = crate::geometry::Plane { origin, dx: slopes[0], dy: slopes[1] };
            let shape = Shape { depth, depth_range: [0.0, 1.0], ..Shape::default() };
            let strip = Strip { x: 8, y: 2, pixels, at: [0.5; 2] };
            let own = depths(&shape, strip);
            // Some are the same, or next to it.
            let close = |lane: usize| depth_code(bits, own[lane]).saturating_add(old[lane] % 3).saturating_sub(1);
            let old: Lanes = std::array::from_fn(|lane| if near { close(lane) } else { old[lane] });
            let (words, left) = tested_codes(&old, &shape, strip, (outcomes(op), bits));
            for lane in 0..WAVE {
                let new = crate::format::encode_depth(bits, own[lane]);
                let [a, b] = [new, old[lane]].map(|word| crate::format::decode_depth(bits, word));
                let passes = pixels >> lane & 1 != 0 && crate::pixel::compare(op, a, b);
                prop_assert_eq!(left >> lane & 1 != 0, passes);
                prop_assert_eq!(words[lane], if passes { new } else { old[lane] });
            }
        }
    }
}
