//! Values of dynamic state.

use ash::vk;

use super::Command;
use super::viewports::ViewportScissor;
use crate::raster::RateState;
use crate::state::{DepthBias, LineStipple};

/// Values of dynamic state.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DynamicValues {
    /// Viewport 0 and scissor 0.
    pub(super) first_viewport: ViewportScissor,
    pub(super) line_width: f32,
    pub(super) line_stipple: LineStipple,
    pub(super) depth_bias: DepthBias,
    pub(super) blend_constants: [f32; 4],
    pub(super) depth_bounds: [f32; 2],
    pub(super) rate: RateState,
    /// Compare mask, write mask and reference of the front and the back face.
    pub(super) stencil: [[u32; 3]; 2],
}

impl DynamicValues {
    /// Returns true if fragments see equal state. State that only set-up uses is not compared.
    pub(super) fn is_same_for_fragments(&self, other: &Self) -> bool {
        let viewport = |of: &Self| {
            let vk::Viewport { x, y, width, height, .. } = of.first_viewport.viewport;
            (x, y, width, height)
        };
        let state = |of: &Self| {
            (viewport(of), of.first_viewport.scissor, of.blend_constants, of.depth_bounds, of.stencil, of.rate)
        };
        state(self) == state(other)
    }

    /// Executes a command that sets a value. Returns false for all other commands.
    pub(super) fn set(&mut self, command: &Command) -> bool {
        match command {
            Command::SetLineWidth(width) => self.line_width = *width,
            Command::SetLineStipple(stipple) => self.line_stipple = *stipple,
            Command::SetDepthBias(bias) => self.depth_bias = *bias,
            Command::SetFragmentRate(rate) => self.rate = *rate,
            Command::SetBlendConstants(constants) => self.blend_constants = *constants,
            Command::SetDepthBounds(bounds) => self.depth_bounds = *bounds,
            Command::SetStencilCompareMask { faces, mask } => self.set_stencil(*faces, 0, *mask),
            Command::SetStencilWriteMask { faces, mask } => self.set_stencil(*faces, 1, *mask),
            Command::SetStencilReference { faces, reference } => self.set_stencil(*faces, 2, *reference),
            _ => return false,
        }
        true
    }

    fn set_stencil(&mut self, faces: vk::StencilFaceFlags, field: usize, value: u32) {
        for (face, flag) in [vk::StencilFaceFlags::FRONT, vk::StencilFaceFlags::BACK].into_iter().enumerate() {
            if faces.contains(flag) {
                self.stencil[face][field] = value;
            }
        }
    }
}
