//! Depth bounds, stencil and depth tests of one sample, with their updates.
//!
//! Source: Vulkan specification, "Fragment Operations".

use ash::vk;

use super::{DrawContext, compare};
use crate::format::{decode_depth, encode_depth};
use crate::memory::PlaneRef;
use crate::state::{DepthStencilState, StencilState};

/// What a sample is tested with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tested {
    pub(super) depth: f32,
    /// Whether it is of a primitive that faces the front.
    pub(super) front: bool,
    /// The reference of its stencil test, when its program wrote one.
    pub(super) reference: Option<u32>,
}

/// Tests a sample and updates depth and stencil. Returns whether it goes on.
pub(super) fn test(context: &DrawContext<'_>, (x, y): (u32, u32), sample: u32, tested: Tested) -> bool {
    let Tested { depth, front, reference } = tested;
    let Some(state) = &context.tests else { return true };
    let stored = context.depth.map(|plane| decode_depth(context.depth_bits, plane.read_word(x, y, sample)));
    if state.depth_bounds_test
        && let Some(stored) = stored
        && !(state.depth_bounds[0] <= stored && stored <= state.depth_bounds[1])
    {
        return false;
    }
    // What is compared is what would be stored.
    let encoded = encode_depth(context.depth_bits, depth);
    let depth_passes = match stored {
        Some(stored) if state.depth_test => {
            compare(state.depth_compare, decode_depth(context.depth_bits, encoded), stored)
        }
        _ => true,
    };
    let face = if front { &state.front } else { &state.back };
    let reference = reference.map_or(face.reference, |own| own & 0xff);
    let stencil_passes = match context.stencil {
        Some(plane) if state.stencil_test => {
            let stored = plane.read_word(x, y, sample);
            let (passes, updated) = stencil((face, reference), stored, depth_passes);
            if updated != stored {
                plane.write_word(x, y, sample, updated);
            }
            passes
        }
        _ => true,
    };
    let passes = depth_passes && stencil_passes;
    if passes
        && state.depth_test
        && state.depth_write
        && let Some(plane) = context.depth
    {
        plane.write_word(x, y, sample, encoded);
    }
    passes
}

/// Tests a sample of the pixels of a quad that are in `mask`, by a depth test alone; the same as [`test`] of each. Returns those that go
/// on.
pub(super) fn test_quad(
    state: &DepthStencilState,
    (plane, depth_bits): (&PlaneRef<'_>, u32),
    ([x, y], sample): ([u32; 2], u32),
    mask: u32,
    depths: [f32; 4],
) -> u32 {
    let stored = plane.read_quad(x, y, sample);
    let encoded = depths.map(|depth| encode_depth(depth_bits, depth));
    let passes = |pixel: usize| {
        let [new, old] = [encoded[pixel], stored[pixel]].map(|word| decode_depth(depth_bits, word));
        compare(state.depth_compare, new, old)
    };
    let left = (0..4).fold(0, |left, pixel| left | u32::from(passes(pixel)) << pixel) & mask;
    if state.depth_write && left != 0 {
        plane.write_quad(x, y, sample, &encoded, left);
    }
    left
}

/// Whether the stencil test passes, and the value that is stored.
pub(super) fn stencil((face, reference): (&StencilState, u32), stored: u32, depth_passes: bool) -> (bool, u32) {
    let passes = compare(face.compare, reference & face.compare_mask, stored & face.compare_mask);
    let op = match (passes, depth_passes) {
        (false, _) => face.fail,
        (true, false) => face.depth_fail,
        (true, true) => face.pass,
    };
    let updated = operate(op, stored, reference);
    let mask = face.write_mask & 0xff;
    (passes, (stored & !mask) | (updated & mask))
}

fn operate(op: vk::StencilOp, stored: u32, reference: u32) -> u32 {
    match op {
        vk::StencilOp::ZERO => 0,
        vk::StencilOp::REPLACE => reference & 0xff,
        vk::StencilOp::INCREMENT_AND_CLAMP => (stored + 1).min(255),
        vk::StencilOp::DECREMENT_AND_CLAMP => stored.saturating_sub(1),
        vk::StencilOp::INVERT => !stored & 0xff,
        vk::StencilOp::INCREMENT_AND_WRAP => (stored + 1) & 0xff,
        vk::StencilOp::DECREMENT_AND_WRAP => stored.wrapping_sub(1) & 0xff,
        _ => stored,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stencil_operations() {
        let op = |op, stored| operate(op, stored, 0x155);
        assert_eq!(op(vk::StencilOp::REPLACE, 3), 0x55);
        assert_eq!(op(vk::StencilOp::INCREMENT_AND_CLAMP, 255), 255);
        assert_eq!(op(vk::StencilOp::INCREMENT_AND_WRAP, 255), 0);
        assert_eq!(op(vk::StencilOp::DECREMENT_AND_CLAMP, 0), 0);
        assert_eq!(op(vk::StencilOp::DECREMENT_AND_WRAP, 0), 255);
        assert_eq!(op(vk::StencilOp::INVERT, 0x0f), 0xf0);
        assert_eq!(op(vk::StencilOp::KEEP, 9), 9);
    }
}
