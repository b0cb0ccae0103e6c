//! The depth test of a whole group of 8x8 pixels: single floats, one sample, nothing but the comparison.

use ash::vk;

use super::inputs::depth_at;
use crate::geometry::Shape;
use crate::memory::PlaneRef;
use crate::raster::SIDE;
use crate::shader::runtime::kernels::{WAVE, kernel};
use crate::state::DepthStencilState;

/// Pixels of a group.
const PIXELS: usize = SIDE * SIDE;

/// Depths of a group, in the order of a group's pixels.
type Depths = [f32; PIXELS];

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
fn passing_pixels(new: &Depths, old: &Depths, [less, equal, greater, unordered]: Outcomes) -> u64 {
    let mut passes = [0u8; PIXELS];
    for (pass, (new, old)) in passes.iter_mut().zip(new.iter().zip(old)) {
        let nan = new.is_nan() | old.is_nan();
        *pass = u8::from((new < old) & less | (new == old) & equal | (new > old) & greater | nan & unordered);
    }
    passes.iter().enumerate().fold(0, |mask, (pixel, &pass)| mask | u64::from(pass) << pixel)
}

kernel!(
    /// The pixels whose new depth passes against the old one.
    passing, passing_wide, passing_pixels, (new: &Depths, old: &Depths, outcomes: Outcomes) -> u64
);

#[inline(always)]
fn planes_of_group(out: &mut Depths, shape: &Shape, x: u32, y: u32) {
    let along = |first: u32, axis: usize| -> [f32; SIDE] {
        std::array::from_fn(|step| (first + step as u32) as f32 - shape.reference[axis] + 0.5)
    };
    let (columns, rows) = (along(x, 0), along(y, 1));
    let xs: [f32; WAVE] = std::array::from_fn(|lane| columns[lane / 4 * 2 + lane % 2]);
    for (strip, rows) in out.as_chunks_mut::<WAVE>().0.iter_mut().zip(rows.as_chunks::<2>().0) {
        let ys: [f32; WAVE] = std::array::from_fn(|lane| rows[lane / 2 % 2]);
        for lane in 0..WAVE {
            strip[lane] = depth_at(shape, xs[lane], ys[lane]);
        }
    }
}

kernel!(
    /// A primitive's depths at the centres of the group at (`x`, `y`).
    depths, depths_wide, planes_of_group, (out: &mut Depths, shape: &Shape, x: u32, y: u32)
);

/// Tests the pixels in `mask` of the group at (`x`, `y`); the same as `depth_stencil::test` of each. Returns those that go on;
/// `None` when the group is not one line of the attachment.
pub(super) fn test(
    state: &DepthStencilState,
    plane: &PlaneRef<'_>,
    shape: &Shape,
    [x, y]: [u32; 2],
    mask: u64,
) -> Option<u64> {
    let mut words = [0u32; PIXELS];
    if !plane.read_line(x, y, &mut words) {
        return None;
    }
    let (mut new, old) = ([0.0; PIXELS], words.map(f32::from_bits));
    depths(&mut new, shape, x, y);
    let left = passing(&new, &old, outcomes(state.depth_compare)) & mask;
    if state.depth_write && left != 0 {
        for (pixel, word) in words.iter_mut().enumerate() {
            *word = if left >> pixel & 1 != 0 { new[pixel].to_bits() } else { *word };
        }
        plane.write_line(x, y, &words);
    }
    Some(left)
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
            new in prop::collection::vec(depth(), PIXELS), old in prop::collection::vec(depth(), PIXELS), op in 0i32..8,
        ) {
            let (new, old): (Depths, Depths) = (new.try_into().unwrap(), old.try_into().unwrap());
            let op = vk::CompareOp::from_raw(op);
            let mask = passing(&new, &old, outcomes(op));
            for pixel in 0..PIXELS {
                prop_assert_eq!(mask >> pixel & 1 != 0, crate::pixel::compare(op, new[pixel], old[pixel]));
            }
        }
    }
}
