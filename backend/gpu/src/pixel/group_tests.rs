//! Depth and stencil tests of a whole group of 8x8 pixels, sample by sample. Stencils are bytes.
//!
//! The stencil comparison does not depend on depth and runs first. Depth is tested where stencil
//! passes. Both results select the stencil operation. Source: Vulkan specification, "Stencil
//! Test".

use ash::vk;
use vitric_base::simd::kernel;
use vitric_memory::PlaneRef;

use super::DrawContext;
use super::depth_group::{self, DepthPlane, GroupSample};
use crate::raster::Shape;
use crate::state::{DepthStencilState, StencilState};

/// Stencils of a group, in the order of its pixels' bits.
type GroupStencils = [u8; 64];

/// Tests of a group.
#[derive(Clone, Copy)]
pub(super) struct GroupTests<'a> {
    state: &'a DepthStencilState,
    depth: Option<DepthPlane<'a>>,
    stencil: Option<&'a PlaneRef<'a>>,
}

impl<'a> GroupTests<'a> {
    /// Returns the tests of a draw in the group whose first pixel is `place`.
    ///
    /// Returns `None` if there are no tests, or if quads must be tested one by one.
    pub(super) fn of(context: &'a DrawContext<'a>, place: [u32; 2]) -> Option<Self> {
        let state = context.tests.as_ref().filter(|state| !state.depth_bounds_test)?;
        let stencil = context.stencil.as_ref().filter(|_| state.stencil_test);
        let bits = context.depth_bits;
        let depth = context.depth.as_ref().filter(|_| state.depth_test).map(|plane| DepthPlane { plane, bits });
        let is_byte = |face: &StencilState| face.reference <= u8::MAX.into();
        let has_bytes = stencil.is_none_or(|plane| plane.has_byte_line(place[0], place[1]));
        let serves = has_bytes && is_byte(&state.front) && is_byte(&state.back);
        let as_one = context.tests_early() && !context.masks_late() && !context.sees_untested();
        (as_one && serves && depth.is_none_or(|stored| stored.has_line(place))).then_some(Self {
            state,
            depth,
            stencil,
        })
    }

    /// Tests one sample of the pixels in `mask` and returns the pixels that pass.
    ///
    /// The result equals `depth_stencil::test` of each quad.
    pub(super) fn test(&self, shape: &Shape, sample: GroupSample, mask: u64) -> u64 {
        let Some(plane) = self.stencil else { return self.test_depth(shape, sample, mask) };
        let face = if shape.front { &self.state.front } else { &self.state.back };
        let GroupSample { place: [x, y], sample: number, .. } = sample;
        let stored = plane.read_byte_line(x, y, number);
        let passed = mask & passing(&stored, face);
        let left = self.test_depth(shape, sample, passed);
        let changes = [(mask & !passed, face.fail), (passed & !left, face.depth_fail), (left, face.pass)];
        let mut changed = stored;
        for (pixels, op) in changes {
            if pixels != 0 && op != vk::StencilOp::KEEP {
                changed = updated(&changed, pixels, op, face);
            }
        }
        if changed != stored {
            plane.write_byte_line(x, y, number, &changed);
        }
        left
    }

    fn test_depth(&self, shape: &Shape, sample: GroupSample, mask: u64) -> u64 {
        match self.depth {
            Some(stored) if mask != 0 => depth_group::test(self.state, stored, shape, sample, mask),
            _ => mask,
        }
    }
}

#[inline(always)]
fn passing_bytes(stored: &GroupStencils, face: &StencilState) -> u64 {
    let [less, equal, greater] = match face.compare {
        vk::CompareOp::LESS => [1, 0, 0],
        vk::CompareOp::EQUAL => [0, 1, 0],
        vk::CompareOp::LESS_OR_EQUAL => [1, 1, 0],
        vk::CompareOp::GREATER => [0, 0, 1],
        vk::CompareOp::NOT_EQUAL => [1, 0, 1],
        vk::CompareOp::GREATER_OR_EQUAL => [0, 1, 1],
        vk::CompareOp::ALWAYS => [1; 3],
        _ => [0; 3],
    };
    let (mask, reference) = (face.compare_mask as u8, (face.reference & face.compare_mask) as u8);
    let mut passes = [0u8; 64];
    for (passes, stored) in passes.iter_mut().zip(stored) {
        let stored = stored & mask;
        *passes = u8::from(reference < stored) & less
            | u8::from(reference == stored) & equal
            | u8::from(reference > stored) & greater;
    }
    // The product gathers the low bits of eight bytes in the highest byte.
    let bits = |eight: &[u8; 8]| u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    passes.as_chunks::<8>().0.iter().rev().fold(0, |all, eight| all << 8 | bits(eight))
}

#[inline(always)]
fn updated_bytes(stored: &GroupStencils, pixels: u64, op: vk::StencilOp, face: &StencilState) -> GroupStencils {
    let (reference, writes) = (face.reference as u8, face.write_mask as u8);
    let all = |new: fn(u8) -> u8| stored.map(new);
    let new = match op {
        vk::StencilOp::ZERO => [0; 64],
        vk::StencilOp::REPLACE => [reference; 64],
        vk::StencilOp::INCREMENT_AND_CLAMP => all(|stored| stored.saturating_add(1)),
        vk::StencilOp::DECREMENT_AND_CLAMP => all(|stored| stored.saturating_sub(1)),
        vk::StencilOp::INVERT => all(|stored| !stored),
        vk::StencilOp::INCREMENT_AND_WRAP => all(|stored| stored.wrapping_add(1)),
        vk::StencilOp::DECREMENT_AND_WRAP => all(|stored| stored.wrapping_sub(1)),
        _ => *stored,
    };
    let mut changed = *stored;
    for (number, (changed, new)) in changed.iter_mut().zip(&new).enumerate() {
        let eight = (pixels >> (number / 8 * 8)) as u8;
        let taken = if eight & 1 << (number % 8) != 0 { writes } else { 0 };
        *changed = *changed & !taken | new & taken;
    }
    changed
}

kernel!(
    /// Returns the pixels whose stencils pass.
    passing, passing_bytes, (stored: &GroupStencils, face: &StencilState) -> u64
);

kernel!(
    /// Returns the stencils after an operation on those of some pixels.
    updated, updated_bytes, (stored: &GroupStencils, pixels: u64, op: vk::StencilOp, face: &StencilState) -> GroupStencils
);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::depth_stencil::stencil;
    use super::*;

    proptest! {
        #[test]
        fn stencils_of_groups_are_those_of_their_pixels(
            bytes in prop::collection::vec(any::<u8>(), 64),
            numbers in prop::array::uniform3(any::<u32>()),
            (compare, ops) in (0i32..8, prop::array::uniform3(0i32..8)),
            (mask, reference, near) in (any::<u64>(), any::<u8>(), any::<bool>()),
        ) {
            let [fail, pass, depth_fail] = ops.map(vk::StencilOp::from_raw);
            let face = StencilState {
                fail,
                pass,
                depth_fail,
                compare: vk::CompareOp::from_raw(compare),
                compare_mask: numbers[0],
                write_mask: numbers[1],
                reference: reference.into(),
            };
            let close = |byte: u8| if near { reference.wrapping_add(byte % 3).wrapping_sub(1) } else { byte };
            let stored: GroupStencils = std::array::from_fn(|pixel| close(bytes[pixel]));
            // The depth test passes for these pixels.
            let deep = u64::from(numbers[2]) << 16;
            let passed = passing(&stored, &face);
            let changes = [(mask & !passed, fail), (mask & passed & !deep, depth_fail), (mask & passed & deep, pass)];
            let changed = changes.iter().fold(stored, |stored, &(pixels, op)| updated(&stored, pixels, op, &face));
            for pixel in 0..64 {
                let expected = stencil((&face, reference.into()), stored[pixel].into(), deep >> pixel & 1 != 0);
                let kept = if mask >> pixel & 1 != 0 { expected.1 } else { stored[pixel].into() };
                prop_assert_eq!((passed >> pixel & 1 != 0, u32::from(changed[pixel])), (expected.0, kept));
            }
        }
    }
}
