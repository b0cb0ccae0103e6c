//! State that is dynamic since `VK_EXT_extended_dynamic_state3`. It is stored apart from older
//! dynamic state, so that programs that do not use it pay nothing for it.
//!
//! Source: `VK_EXT_extended_dynamic_state3`, `VK_EXT_vertex_input_dynamic_state`,
//! `VK_EXT_color_write_enable`, `VK_EXT_depth_clamp_control`.

use std::sync::Arc;

use ash::vk;
use vitric_ir::interface::MAX_COLORS;

use crate::raster::{Criterion, SampleLocations};

use super::set::SetState;
use super::{
    AdvancedBlend, BlendState, DepthClampRange, DepthLimits, DynamicState, LineMode, PipelineState, VertexAttribute,
    VertexBinding,
};

/// Bindings and attributes of vertices.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the fields are Vulkan's parameters")]
pub struct VertexInput {
    pub bindings: Vec<VertexBinding>,
    pub attributes: Vec<VertexAttribute>,
}

/// Blend equation of a colour attachment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the fields are Vulkan's parameters")]
pub struct BlendEquation {
    pub src_color: vk::BlendFactor,
    pub dst_color: vk::BlendFactor,
    pub color_op: vk::BlendOp,
    pub src_alpha: vk::BlendFactor,
    pub dst_alpha: vk::BlendFactor,
    pub alpha_op: vk::BlendOp,
}

/// A value of a colour attachment that a command sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are Vulkan's commands")]
pub enum SetBlend {
    Enable(bool),
    Equation(BlendEquation),
    Advanced(vk::BlendOp, AdvancedBlend),
    Mask(vk::ColorComponentFlags),
    Write(bool),
}

/// Values of a colour attachment that commands have set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Blending {
    enable: Option<bool>,
    equation: Option<BlendEquation>,
    advanced: Option<(vk::BlendOp, AdvancedBlend)>,
    mask: Option<vk::ColorComponentFlags>,
    write: Option<bool>,
}

/// Values that commands have set, `None` where they have not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct DynamicState3 {
    polygon_mode: Option<vk::PolygonMode>,
    samples: Option<u32>,
    sample_mask: Option<u32>,
    alpha_to_coverage: Option<bool>,
    alpha_to_one: Option<bool>,
    logic_op_enable: Option<bool>,
    depth_clamp: Option<bool>,
    clamp_range: Option<Option<DepthClampRange>>,
    depth_clip: Option<bool>,
    negative_one_to_one: Option<bool>,
    provoking_last: Option<bool>,
    line_mode: Option<LineMode>,
    stippled: Option<bool>,
    conservative: Option<Option<Criterion>>,
    custom_locations: Option<bool>,
    locations: Option<SampleLocations>,
    feedback_loop: Option<vk::ImageAspectFlags>,
    patch_vertices: Option<u32>,
    lower_left: Option<bool>,
    stream: Option<u32>,
    colors: [Blending; MAX_COLORS],
    input: Option<Arc<VertexInput>>,
}

impl DynamicState3 {
    /// Sets a value. Values of `ExtendedState` are ignored.
    pub(super) fn set(&mut self, state: SetState) {
        match state {
            SetState::PolygonMode(value) => self.polygon_mode = Some(value),
            SetState::Samples(value) => self.samples = Some(value),
            SetState::SampleMask(value) => self.sample_mask = Some(value),
            SetState::AlphaToCoverage(value) => self.alpha_to_coverage = Some(value),
            SetState::AlphaToOne(value) => self.alpha_to_one = Some(value),
            SetState::LogicOpEnable(value) => self.logic_op_enable = Some(value),
            SetState::DepthClamp(value) => self.depth_clamp = Some(value),
            SetState::ClampRange(value) => self.clamp_range = Some(value),
            SetState::DepthClip(value) => self.depth_clip = Some(value),
            SetState::NegativeOneToOne(value) => self.negative_one_to_one = Some(value),
            SetState::ProvokingLast(value) => self.provoking_last = Some(value),
            SetState::LineMode(value) => self.line_mode = Some(value),
            SetState::LineStipple(value) => self.stippled = Some(value),
            SetState::Conservative(value) => self.conservative = Some(value),
            SetState::SampleLocationsEnable(value) => self.custom_locations = Some(value),
            SetState::FeedbackLoop(value) => self.feedback_loop = Some(value),
            SetState::PatchVertices(value) => self.patch_vertices = Some(value),
            SetState::LowerLeft(value) => self.lower_left = Some(value),
            SetState::Stream(value) => self.stream = Some(value),
            _ => {}
        }
    }

    /// Sets values of the colour attachments from `first` on.
    pub(super) fn set_blend(&mut self, first: u32, values: &[SetBlend]) {
        for (color, value) in self.colors.iter_mut().skip(first as usize).zip(values) {
            match *value {
                SetBlend::Enable(value) => color.enable = Some(value),
                // The last command of the two counts.
                SetBlend::Equation(value) => (color.equation, color.advanced) = (Some(value), None),
                SetBlend::Advanced(op, advanced) => color.advanced = Some((op, advanced)),
                SetBlend::Mask(value) => color.mask = Some(value),
                SetBlend::Write(value) => color.write = Some(value),
            }
        }
    }

    pub(super) fn set_locations(&mut self, locations: Option<SampleLocations>) {
        self.locations = locations;
    }

    pub(super) fn set_input(&mut self, input: Arc<VertexInput>) {
        self.input = Some(input);
    }

    /// Returns the values that a pipeline with this dynamic state uses.
    pub(super) fn taken(&self, dynamic: DynamicState) -> Self {
        fn when<T>(takes: bool, value: Option<T>) -> Option<T> {
            value.filter(|_| takes)
        }
        let has = |flag| dynamic.contains(flag);
        let color = |color: Blending| Blending {
            enable: when(has(DynamicState::BLEND_ENABLE), color.enable),
            equation: when(has(DynamicState::BLEND_EQUATION), color.equation),
            advanced: when(has(DynamicState::BLEND_ADVANCED), color.advanced),
            mask: when(has(DynamicState::WRITE_MASK), color.mask),
            write: when(has(DynamicState::COLOR_WRITE), color.write),
        };
        Self {
            polygon_mode: when(has(DynamicState::POLYGON_MODE), self.polygon_mode),
            samples: when(has(DynamicState::SAMPLES), self.samples),
            sample_mask: when(has(DynamicState::SAMPLE_MASK), self.sample_mask),
            alpha_to_coverage: when(has(DynamicState::ALPHA_TO_COVERAGE), self.alpha_to_coverage),
            alpha_to_one: when(has(DynamicState::ALPHA_TO_ONE), self.alpha_to_one),
            logic_op_enable: when(has(DynamicState::LOGIC_OP_ENABLE), self.logic_op_enable),
            depth_clamp: when(has(DynamicState::DEPTH_CLAMP), self.depth_clamp),
            clamp_range: when(has(DynamicState::CLAMP_RANGE), self.clamp_range),
            depth_clip: when(has(DynamicState::DEPTH_CLIP), self.depth_clip),
            negative_one_to_one: when(has(DynamicState::NEGATIVE_ONE_TO_ONE), self.negative_one_to_one),
            provoking_last: when(has(DynamicState::PROVOKING), self.provoking_last),
            line_mode: when(has(DynamicState::LINE_MODE), self.line_mode),
            stippled: when(has(DynamicState::LINE_STIPPLE_ENABLE), self.stippled),
            conservative: when(has(DynamicState::CONSERVATIVE), self.conservative),
            custom_locations: when(has(DynamicState::SAMPLE_LOCATIONS_ENABLE), self.custom_locations),
            locations: when(has(DynamicState::SAMPLE_LOCATIONS), self.locations),
            feedback_loop: when(has(DynamicState::FEEDBACK_LOOP), self.feedback_loop),
            patch_vertices: when(has(DynamicState::PATCH_VERTICES), self.patch_vertices),
            lower_left: when(has(DynamicState::DOMAIN_ORIGIN), self.lower_left),
            stream: when(has(DynamicState::STREAM), self.stream),
            colors: self.colors.map(color),
            input: when(has(DynamicState::VERTEX_INPUT), self.input.clone()),
        }
    }

    /// Sets these values in a pipeline's state. The logic operation stays, if there is one.
    pub(super) fn apply(&self, made: &mut PipelineState) {
        if let Some(input) = &self.input {
            made.bindings.clone_from(&input.bindings);
            made.attributes.clone_from(&input.attributes);
        }
        put(&mut made.raster.polygon_mode, self.polygon_mode);
        put(&mut made.raster.negative_one_to_one, self.negative_one_to_one);
        put(&mut made.raster.provoking_last, self.provoking_last);
        put(&mut made.raster.line_mode, self.line_mode);
        put(&mut made.raster.conservative, self.conservative);
        put(&mut made.raster.stream, self.stream);
        put(&mut made.raster.line_stipple, self.stippled.map(|is_on| is_on.then_some(made.dynamic_defaults.stipple)));
        put(&mut made.logic_op, self.logic_op_enable.map(|is_on| is_on.then_some(made.dynamic_defaults.logic_op)));
        let clamps = self.depth_clamp.unwrap_or(made.dynamic_defaults.depth_clamp);
        made.raster.depth_clip = self.depth_clip.or(made.dynamic_defaults.depth_clip).unwrap_or(!clamps);
        made.raster.depth_limits = match self.clamp_range.unwrap_or(made.dynamic_defaults.clamp_range) {
            _ if !clamps => made.dynamic_defaults.depth_limits,
            Some(range) => DepthLimits::Range(range),
            None => DepthLimits::Viewport,
        };
        put(&mut made.reads_attachments, self.feedback_loop.map(|aspects| !aspects.is_empty()));
        put(&mut made.patch_state.vertices, self.patch_vertices);
        put(&mut made.patch_state.lower_left, self.lower_left);
        put(&mut made.multisample.samples, self.samples);
        put(&mut made.multisample.sample_mask, self.sample_mask);
        put(&mut made.multisample.alpha_to_coverage, self.alpha_to_coverage);
        put(&mut made.multisample.alpha_to_one, self.alpha_to_one);
        let is_custom = self.custom_locations.unwrap_or(made.dynamic_defaults.custom_locations);
        made.multisample.custom = self.locations.or(made.dynamic_defaults.locations).filter(|_| is_custom);
        self.apply_blending(made);
    }

    /// Returns true if fragments may read the depth or stencil against which they are tested.
    pub(super) fn reads_depths(&self) -> bool {
        let depths = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
        self.feedback_loop.is_some_and(|aspects| aspects.intersects(depths))
    }

    fn apply_blending(&self, made: &mut PipelineState) {
        // A pipeline need not state the number of attachments if all of their state is dynamic.
        let count = made.blend.len().max(made.color_formats.len()).min(MAX_COLORS);
        made.blend.resize(count, BlendState::default());
        for (number, (blend, color)) in made.blend.iter_mut().zip(self.colors).enumerate() {
            put(&mut blend.enable, color.enable);
            put(&mut blend.write_mask, color.mask);
            if let Some(BlendEquation { src_color, dst_color, color_op, src_alpha, dst_alpha, alpha_op }) =
                color.equation
            {
                *blend = BlendState { src_color, dst_color, color_op, src_alpha, dst_alpha, alpha_op, ..*blend };
            }
            if let Some((op, advanced)) = color.advanced {
                *blend = BlendState { color_op: op, alpha_op: op, advanced, ..*blend };
            }
            let writes =
                color.write.unwrap_or_else(|| made.dynamic_defaults.writes.get(number).copied().unwrap_or(true));
            if !writes {
                blend.write_mask = vk::ColorComponentFlags::empty();
            }
        }
    }
}

/// Replaces a value if one was set.
pub(super) fn put<T>(target: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *target = value;
    }
}
