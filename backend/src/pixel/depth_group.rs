//! The depth test of a whole group of 8x8 pixels: single floats, nothing but the comparison.

use ash::vk;

use super::inputs::depth_at;
use crate::geometry::Shape;
use crate::memory::PlaneRef;
use crate::raster::UNITS;
use crate::shader::runtime::kernels::{Lanes, WAVE, kernel};
use crate::state::DepthStencilState;

/// Depths of two rows of a group: a wave's lanes.
type Depths = [f32; WAVE];

/// Which outcomes of a comparison pass: less, equal, greater, unordered.
type Outcomes = [bool; 4];

fn outcomes(op: vk::CompareOp) -> Outcomes {
    match op {
        vk::CompareOp::LESS => [true, false, false, false],
        vk::CompareOp::EQUAL => [false, true, false, false],
        vk::CompareOp::LESS_OR_EQUAL => [true, true, false, false],
        vk::CompareOp::GREATER => [false, false, true, false],
        vk::CompareOp::NOT_EQUAL => [true, false, true, true],
        vk::CompareOp::GREATER_OR_EQUAL => [false, true, true, false],
        vk::CompareOp::ALWAYS => [true; 4],
        _ => [false; 4],
    }
}

#[inline(always)]
fn passing_lanes(new: &Depths, old: &Depths, [less, equal, greater, unordered]: Outcomes) -> u32 {
    let mut passes = [0u32; WAVE];
    for (pass, (new, old)) in passes.iter_mut().zip(new.iter().zip(old)) {
        let nan = new.is_nan() | old.is_nan();
        *pass = u32::from((new < old) & less | (new == old) & equal | (new > old) & greater | nan & unordered);
    }
    passes.iter().enumerate().fold(0, |mask, (lane, &pass)| mask | pass << lane)
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
fn tested_lanes(words: &mut Lanes, shape: &Shape, strip: Strip, outcomes: Outcomes) -> u32 {
    let along =
        |first: u32, step: usize, axis: usize| (first + step as u32) as f32 - shape.reference[axis] + strip.at[axis];
    let mut new = [0.0; WAVE];
    for (lane, new) in new.iter_mut().enumerate() {
        let (x, y) = (along(strip.x, lane / 4 * 2 + lane % 2, 0), along(strip.y, lane / 2 % 2, 1));
        *new = depth_at(shape, x, y);
    }
    let left = passing_lanes(&new, &words.map(f32::from_bits), outcomes) & strip.pixels;
    for (lane, word) in words.iter_mut().enumerate() {
        *word = if left >> lane & 1 != 0 { new[lane].to_bits() } else { *word };
    }
    left
}

kernel!(
    /// Tests pixels of two rows against the words that are stored, and replaces those that pass, which it returns.
    tested, tested_lanes, (words: &mut Lanes, shape: &Shape, strip: Strip, outcomes: Outcomes) -> u32
);

/// Tests a sample of the pixels in `mask` of a group; the same as `depth_stencil::test` of each. The sample comes with its number
/// and its place in units, the group by its first pixel, where the attachment has a line. Returns the pixels that go on.
pub(super) fn test(
    state: &DepthStencilState,
    plane: &PlaneRef<'_>,
    shape: &Shape,
    ([x, y], sample, at): ([u32; 2], u32, [i64; 2]),
    mask: u64,
) -> u64 {
    let (outcomes, at) = (outcomes(state.depth_compare), at.map(|units| units as f32 / UNITS as f32));
    let (mut left, mut rest) = (0, mask);
    while rest != 0 {
        let first = rest.trailing_zeros() / 16;
        let strip = Strip { x, y: y + first * 2, pixels: (mask >> (first * 16)) as u32 & 0xffff, at };
        rest &= !(0xffff << (first * 16));
        let mut words = plane.read_strip(strip.x, strip.y, sample);
        let passed = tested(&mut words, shape, strip, outcomes);
        if state.depth_write && passed != 0 {
            plane.write_strip(strip.x, strip.y, sample, &words);
        }
        left |= u64::from(passed) << (first * 16);
    }
    left
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn depth() -> impl Strategy<Value = f32> {
        prop_oneof![Just(f32::NAN), Just(0.0), Just(-0.0), Just(0.5), -1.0f32..2.0]
    }

    proptest! {
        #[test]
        fn every_comparison_passes_what_it_passes_of_one(
            new in prop::array::uniform16(depth()), old in prop::array::uniform16(depth()), op in 0i32..8,
        ) {
            let op = vk::CompareOp::from_raw(op);
            let mask = passing_lanes(&new, &old, outcomes(op));
            for pixel in 0..WAVE {
                prop_assert_eq!(mask >> pixel & 1 != 0, crate::pixel::compare(op, new[pixel], old[pixel]));
            }
        }
    }
}
