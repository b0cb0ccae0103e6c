//! Depth bounds, stencil and depth tests of quads, sample by sample, with their updates.
//!
//! Source: Vulkan specification, "Fragment Operations".

use ash::vk;
use vitric_exec::texture::compare;
use vitric_format::{decode_depth, encode_depth};
use vitric_memory::PlaneRef;

use super::DrawContext;
use super::depth_group::DepthPlane;
use crate::state::{DepthStencilState, StencilState};

/// Values with which one sample of each pixel of a quad is tested.
#[derive(Debug, Clone, Copy)]
pub(super) struct TestValues {
    pub(super) depths: [f32; 4],
    /// True if the primitive is front-facing.
    pub(super) front: bool,
    /// Reference values of the stencil test, if the fragment program wrote any.
    pub(super) references: Option<[u32; 4]>,
}

/// One sample of some pixels of a quad.
#[derive(Debug, Clone, Copy)]
pub(super) struct QuadSample {
    /// First pixel of the quad.
    pub(super) place: [u32; 2],
    /// Number of the sample.
    pub(super) sample: u32,
    /// Mask of the pixels.
    pub(super) pixels: u32,
}

/// Tests one sample of pixels of a quad and updates depth and stencil. Returns the pixels that
/// pass.
pub(super) fn test(
    context: &DrawContext<'_>,
    QuadSample { place: [x, y], sample, pixels: mask }: QuadSample,
    TestValues { depths, front, references }: TestValues,
) -> u32 {
    let Some(state) = &context.tests else { return mask };
    let (face, bits) = (if front { &state.front } else { &state.back }, context.depth_bits);
    let stencil_plane = context.stencil.filter(|_| state.stencil_test);
    let read = |plane: Option<PlaneRef<'_>>| plane.map(|plane| plane.read_quad(x, y, sample));
    let (stored_depths, stored_stencils) = (read(context.depth), read(stencil_plane));
    // The test compares depths after rounding to the attachment's format.
    let encoded = depths.map(|depth| encode_depth(bits, depth));
    let (mut left, mut stencils, mut changed) = (0, stored_stencils.unwrap_or_default(), 0);
    for pixel in (0..4).filter(|pixel| mask >> pixel & 1 != 0) {
        let stored = stored_depths.map(|words| decode_depth(bits, words[pixel]));
        let [least, greatest] = state.depth_bounds;
        if state.depth_bounds_test && stored.is_some_and(|stored| !(least <= stored && stored <= greatest)) {
            continue;
        }
        let depth_passes = match stored {
            Some(stored) if state.depth_test => {
                compare(state.depth_compare, decode_depth(bits, encoded[pixel]), stored)
            }
            _ => true,
        };
        let mut passes = depth_passes;
        if stored_stencils.is_some() {
            let reference = references.map_or(face.reference, |own| own[pixel] & 0xff);
            let (stencil_passes, updated) = stencil((face, reference), stencils[pixel], depth_passes);
            changed |= u32::from(updated != stencils[pixel]) << pixel;
            stencils[pixel] = updated;
            passes &= stencil_passes;
        }
        left |= u32::from(passes) << pixel;
    }
    if let (Some(plane), true) = (stencil_plane, changed != 0) {
        plane.write_quad(x, y, sample, &stencils, changed);
    }
    if let (Some(plane), true) = (&context.depth, state.depth_test && state.depth_write && left != 0) {
        plane.write_quad(x, y, sample, &encoded, left);
    }
    left
}

/// Tests one sample of pixels of a quad if only depth is tested. Returns the pixels that pass.
///
/// The result equals that of [`test`].
pub(super) fn test_quad(
    state: &DepthStencilState,
    DepthPlane { plane, bits }: DepthPlane<'_>,
    QuadSample { place: [x, y], sample, pixels: mask }: QuadSample,
    depths: [f32; 4],
) -> u32 {
    let stored = plane.read_quad(x, y, sample);
    let encoded = depths.map(|depth| encode_depth(bits, depth));
    let passes = |pixel: usize| {
        let [new, old] = [encoded[pixel], stored[pixel]].map(|word| decode_depth(bits, word));
        compare(state.depth_compare, new, old)
    };
    let left = (0..4).fold(0, |left, pixel| left | u32::from(passes(pixel)) << pixel) & mask;
    if state.depth_write && left != 0 {
        plane.write_quad(x, y, sample, &encoded, left);
    }
    left
}

/// Returns whether the stencil test passes, and the new stencil value.
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
