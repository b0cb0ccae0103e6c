//! Dynamic state beyond that of Vulkan 1.0. A pipeline with such state becomes another variant for
//! each combination of values that draws use, so that the units never see the state as dynamic.
//!
//! Source: `VK_EXT_extended_dynamic_state`, `VK_EXT_extended_dynamic_state2`.

use std::sync::Arc;

use ash::vk;

use super::MAX_VIEWPORTS;

use super::dynamic_state3::{DynamicState3, put};
use super::set::{SetState, StencilOps};
use super::{
    DepthStencilState, DynamicState, PipelineState, RasterState, SetBlend, StencilState, VertexInput, Viewport,
};
use crate::raster::SampleLocations;

/// `maxVertexInputBindings`.
pub const MAX_BINDINGS: usize = 32;

/// Values that commands have set, `None` where they have not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ExtendedState {
    cull_mode: Option<vk::CullModeFlags>,
    front_face: Option<vk::FrontFace>,
    topology: Option<vk::PrimitiveTopology>,
    restart: Option<bool>,
    discard: Option<bool>,
    depth_bias: Option<bool>,
    depth_test: Option<bool>,
    depth_write: Option<bool>,
    depth_compare: Option<vk::CompareOp>,
    depth_bounds_test: Option<bool>,
    stencil_test: Option<bool>,
    stencil: [Option<StencilOps>; 2],
    logic_op: Option<vk::LogicOp>,
    viewport_count: Option<u32>,
    /// Strides of vertex buffers, by binding.
    strides: Vec<Option<u32>>,
    /// Values of newer dynamic state.
    dynamic_state3: Option<Box<DynamicState3>>,
}

impl ExtendedState {
    /// Sets a value.
    pub fn set(&mut self, state: SetState) {
        match state {
            SetState::CullMode(value) => self.cull_mode = Some(value),
            SetState::FrontFace(value) => self.front_face = Some(value),
            SetState::Topology(value) => self.topology = Some(value),
            SetState::Restart(value) => self.restart = Some(value),
            SetState::Discard(value) => self.discard = Some(value),
            SetState::DepthBias(value) => self.depth_bias = Some(value),
            SetState::DepthTest(value) => self.depth_test = Some(value),
            SetState::DepthWrite(value) => self.depth_write = Some(value),
            SetState::DepthCompare(value) => self.depth_compare = Some(value),
            SetState::DepthBoundsTest(value) => self.depth_bounds_test = Some(value),
            SetState::StencilTest(value) => self.stencil_test = Some(value),
            SetState::Stencil { faces, ops } => {
                let both = [vk::StencilFaceFlags::FRONT, vk::StencilFaceFlags::BACK];
                for (slot, _) in self.stencil.iter_mut().zip(both).filter(|(_, face)| faces.contains(*face)) {
                    *slot = Some(ops);
                }
            }
            SetState::LogicOp(value) => self.logic_op = Some(value),
            SetState::ViewportCount(value) => self.viewport_count = Some(value.min(MAX_VIEWPORTS as u32)),
            dynamic_state3 => self.dynamic_state3.get_or_insert_default().set(dynamic_state3),
        }
    }

    /// Sets values of the colour attachments from `first` on.
    pub fn set_blend(&mut self, first: u32, values: &[SetBlend]) {
        self.dynamic_state3.get_or_insert_default().set_blend(first, values);
    }

    /// Sets custom sample locations, `None` for locations that are not supported.
    pub fn set_locations(&mut self, locations: Option<SampleLocations>) {
        self.dynamic_state3.get_or_insert_default().set_locations(locations);
    }

    /// Sets bindings, with their strides, and attributes of vertices.
    pub fn set_input(&mut self, input: &Arc<VertexInput>) {
        for binding in &input.bindings {
            self.set_strides(binding.binding, &[binding.stride]);
        }
        self.dynamic_state3.get_or_insert_default().set_input(input.clone());
    }

    /// Sets the strides of vertex buffers from binding `first` on. Bindings beyond the limit are
    /// ignored.
    pub fn set_strides(&mut self, first: u32, strides: &[u32]) {
        for (binding, &stride) in (first as usize..MAX_BINDINGS).zip(strides) {
            if self.strides.len() <= binding {
                self.strides.resize(binding + 1, None);
            }
            self.strides[binding] = Some(stride);
        }
    }

    /// Returns the values that a pipeline with this dynamic state uses.
    pub fn taken(&self, dynamic: DynamicState) -> Self {
        fn when<T: Copy>(takes: bool, value: Option<T>) -> Option<T> {
            value.filter(|_| takes)
        }
        let has = |flag| dynamic.contains(flag);
        // With dynamic vertex input, commands that bind buffers set strides, too.
        let has_strides = dynamic.intersects(DynamicState::STRIDES | DynamicState::VERTEX_INPUT);
        let strides = if has_strides { self.strides.clone() } else { Vec::new() };
        Self {
            cull_mode: when(has(DynamicState::CULL_MODE), self.cull_mode),
            front_face: when(has(DynamicState::FRONT_FACE), self.front_face),
            topology: when(has(DynamicState::TOPOLOGY), self.topology),
            restart: when(has(DynamicState::RESTART), self.restart),
            discard: when(has(DynamicState::DISCARD), self.discard),
            depth_bias: when(has(DynamicState::DEPTH_BIAS_ENABLE), self.depth_bias),
            depth_test: when(has(DynamicState::DEPTH_TEST), self.depth_test),
            depth_write: when(has(DynamicState::DEPTH_WRITE), self.depth_write),
            depth_compare: when(has(DynamicState::DEPTH_COMPARE), self.depth_compare),
            depth_bounds_test: when(has(DynamicState::DEPTH_BOUNDS_TEST), self.depth_bounds_test),
            stencil_test: when(has(DynamicState::STENCIL_TEST), self.stencil_test),
            stencil: self.stencil.map(|ops| when(has(DynamicState::STENCIL_OP), ops)),
            logic_op: when(has(DynamicState::LOGIC_OP), self.logic_op),
            viewport_count: when(has(DynamicState::VIEWPORT_COUNT), self.viewport_count),
            strides,
            dynamic_state3: self
                .dynamic_state3
                .as_ref()
                .filter(|_| dynamic.intersects(DynamicState::LATE))
                .map(|dynamic_state3| Box::new(dynamic_state3.taken(dynamic))),
        }
    }
}

impl PipelineState {
    /// Returns this state with the values that commands have set.
    pub fn with(&self, state: &ExtendedState) -> Self {
        let mut made = self.clone();
        put(&mut made.raster.cull_mode, state.cull_mode);
        put(&mut made.raster.front_face, state.front_face);
        put(&mut made.raster.discard, state.discard);
        put(&mut made.raster.depth_bias_enable, state.depth_bias);
        put(&mut made.topology, state.topology);
        put(&mut made.primitive_restart, state.restart);
        if let Some(op) = state.logic_op {
            made.logic_op = made.logic_op.map(|_| op);
            made.dynamic_defaults.logic_op = op;
        }
        if let Some(dynamic_state3) = &state.dynamic_state3 {
            dynamic_state3.apply(&mut made);
        }
        if let Some(count) = state.viewport_count {
            made.viewports.resize(count as usize, Viewport::default());
        }
        made.depth_stencil = made.depth_stencil.map(|tests| state.tests(tests));
        let may_write = made.depth_stencil.is_some_and(|tests| tests.may_write(made.dynamic));
        if may_write && state.dynamic_state3.as_ref().is_some_and(|dynamic_state3| dynamic_state3.reads_depths()) {
            made.fragment = made.fragment.map(|program| Arc::new(program.with_interlock()));
        }
        for binding in &mut made.bindings {
            put(&mut binding.stride, state.strides.get(binding.binding as usize).copied().flatten());
        }
        made
    }

    /// Returns true if both states have the same fragment kernels.
    pub fn exports_like(&self, other: &Self) -> bool {
        // Only these parts of rasterization state decide coverage.
        let coverage = |of: &Self| (of.corners(), of.raster.polygon_mode, of.raster.line_mode, of.raster.conservative);
        self.fragment == other.fragment
            && self.depth_stencil == other.depth_stencil
            && self.logic_op == other.logic_op
            && self.blend == other.blend
            && self.multisample == other.multisample
            && self.dithers == other.dithers
            && coverage(self) == coverage(other)
    }

    /// Returns true if both states have the same vertex kernels.
    pub fn shades_vertices_like(&self, other: &Self) -> bool {
        let volume = |raster: &RasterState| (raster.depth_clip, raster.negative_one_to_one);
        self.bindings == other.bindings
            && self.attributes == other.attributes
            && volume(&self.raster) == volume(&other.raster)
    }
}

impl ExtendedState {
    fn tests(&self, mut tests: DepthStencilState) -> DepthStencilState {
        put(&mut tests.depth_test, self.depth_test);
        put(&mut tests.depth_write, self.depth_write);
        put(&mut tests.depth_compare, self.depth_compare);
        put(&mut tests.depth_bounds_test, self.depth_bounds_test);
        put(&mut tests.stencil_test, self.stencil_test);
        for (face, ops) in [&mut tests.front, &mut tests.back].into_iter().zip(self.stencil) {
            if let Some(StencilOps { fail, pass, depth_fail, compare }) = ops {
                *face = StencilState { fail, pass, depth_fail, compare, ..*face };
            }
        }
        tests
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::VertexBinding;

    #[test]
    fn the_last_command_that_sets_a_stride_counts() {
        let binding = VertexBinding { binding: 1, stride: 8, rate: vk::VertexInputRate::VERTEX, divisor: 1 };
        let input = Arc::new(VertexInput { bindings: vec![binding], attributes: Vec::new() });
        let strides = |dynamic, sets_input_last: bool| {
            let mut state = ExtendedState::default();
            state.set_input(&input);
            state.set_strides(1, &[24]);
            if sets_input_last {
                state.set_input(&input);
            }
            state.taken(dynamic).strides
        };
        for dynamic in [DynamicState::STRIDES, DynamicState::VERTEX_INPUT] {
            assert_eq!(strides(dynamic, false), [None, Some(24)]);
            assert_eq!(strides(dynamic, true), [None, Some(8)]);
        }
        assert!(strides(DynamicState::CULL_MODE, false).is_empty());
    }
}
