//! State of draws that is derived from the bound state when it has changed.

use std::sync::{Arc, OnceLock};

use ash::vk;
use smallvec::SmallVec;
use vitric_base::counters::Counter;
use vitric_base::simd::Lanes;
use vitric_exec::runtime::Ranges;
use vitric_memory::BufferRange;

use super::super::pass::Pass;
use super::super::state::{ChangedState, GraphicsState};
use super::super::viewports::{ViewportScissor, clip_area, fragment_area, guard_band, pixel_area};
use crate::geometry::{Plan, PrimitiveContext, VIEWPORT_WORDS, vertex_limits, vertex_parameters, vertex_ranges};
use crate::hiz::Visibility;
use crate::pipeline::CompiledPipeline;
use crate::pixel::{LookaheadRole, Segment, visibility};
use crate::state::DynamicState;

/// State that draws share while only resources, push constants and the index buffer change.
#[derive(Clone)]
pub(super) struct DrawState {
    pub(super) pipeline: Arc<CompiledPipeline>,
    /// Parameters of the vertex kernel.
    pub(super) parameters: SmallVec<[Lanes; 7]>,
    /// The vertex buffers.
    pub(super) ranges: Ranges,
    /// Set-up state by viewport; empty if primitives are discarded after shading.
    pub(super) contexts: SmallVec<[PrimitiveContext; 1]>,
    pub(super) visibility: Visibility,
    /// Role of the draws in the look-ahead, or the reason why they cannot be deferred; empty until
    /// first needed.
    pub(super) role: OnceLock<Result<LookaheadRole, Counter>>,
    /// Segment of the draws' fragments, if they have one; empty until first needed.
    pub(super) segment: OnceLock<Option<Segment>>,
    /// True if draws have no effect: they cover no pixel, and their vertices have no side effects.
    pub(super) has_no_effect: bool,
}

impl DrawState {
    /// Returns the draw state for the bound state; `None` without a pipeline. `last` is the state
    /// of the last draw, which is reused as far as the bound state has not changed.
    pub(super) fn update(last: Option<Arc<Self>>, graphics: &mut GraphicsState, pass: &Pass) -> Option<Arc<Self>> {
        let changed = std::mem::replace(&mut graphics.changed, ChangedState { fixed: false, buffers: false });
        match last.filter(|_| !changed.fixed) {
            Some(mut state) => {
                if changed.buffers {
                    // Deferred draws keep their vertex buffers.
                    Arc::make_mut(&mut state).set_buffers(&graphics.vertex_buffers);
                }
                Some(state)
            }
            None => Self::new(graphics, pass),
        }
    }

    fn new(graphics: &mut GraphicsState, pass: &Pass) -> Option<Arc<Self>> {
        let pipeline = graphics.pipeline()?;
        let viewports = graphics.viewports.of_draw(&pipeline);
        let band = guard_band(&pipeline, &viewports);
        // Without a geometry program, only stream 0 exists.
        let has_stream = pipeline.geometry.is_some() || pipeline.raster.stream == 0;
        let contexts = match pipeline.raster.discard || !has_stream {
            true => SmallVec::new(),
            false => {
                viewports.iter().map(|viewport| set_up_state(graphics, pass, &pipeline, *viewport, band)).collect()
            }
        };
        let mut state = Self {
            parameters: vertex_parameters(&viewports[0].viewport, band).into(),
            ranges: Ranges::default(),
            contexts,
            visibility: visibility(&pipeline, pipeline.depth_stencil.as_ref()),
            role: OnceLock::new(),
            segment: OnceLock::new(),
            has_no_effect: covers_nothing(graphics, pass, &pipeline) && !pipeline.has_side_effects(),
            pipeline,
        };
        state.set_buffers(&graphics.vertex_buffers);
        Some(Arc::new(state))
    }

    fn set_buffers(&mut self, buffers: &[Option<BufferRange>]) {
        self.ranges = vertex_ranges(&self.pipeline.bindings, buffers);
        if self.pipeline.exact_vertices {
            self.parameters.truncate(VIEWPORT_WORDS);
            self.parameters.extend(vertex_limits(&self.pipeline.bindings, buffers));
        }
    }
}

/// Returns true if no pixel of the pass can be covered by draws.
fn covers_nothing(graphics: &GraphicsState, pass: &Pass, pipeline: &CompiledPipeline) -> bool {
    let [x0, y0, x1, y1] = fragment_area(graphics.dynamic.first_viewport, pipeline);
    let area = pixel_area(pass.area);
    x0.max(area[0]) >= x1.min(area[2]) || y0.max(area[1]) >= y1.min(area[3])
}

/// Returns the set-up state of primitives in a viewport.
fn set_up_state(
    graphics: &GraphicsState,
    pass: &Pass,
    pipeline: &CompiledPipeline,
    viewport: ViewportScissor,
    band: f32,
) -> PrimitiveContext {
    let dynamic = |flag| pipeline.dynamic.contains(flag);
    let mut raster = pipeline.raster;
    if dynamic(DynamicState::LINE_WIDTH) {
        raster.line_width = graphics.dynamic.line_width;
    }
    if dynamic(DynamicState::DEPTH_BIAS) {
        raster.depth_bias = graphics.dynamic.depth_bias;
    }
    if dynamic(DynamicState::LINE_STIPPLE) {
        raster.line_stipple = raster.line_stipple.and(Some(graphics.dynamic.line_stipple));
    }
    let context = PrimitiveContext {
        raster,
        // Depth bias applies to polygons only.
        bias: (raster.depth_bias_enable && pipeline.corners() == 3).then_some(raster.depth_bias),
        depths_within_corners: has_own_depths(pipeline),
        viewport: viewport.viewport,
        band,
        fragment: pipeline.fragment.clone(),
        gives_rate: pipeline.gives_rate(),
        depth_bits: pass.depth_bits(),
        samples: pipeline.multisample.samples,
        criterion: pipeline.criterion(),
        smooth: pipeline.smooths_lines(),
        routed: pipeline.last().routes().then(|| clip_area(&viewport, band)),
        plan: Plan::default(),
    };
    context.complete()
}

/// Returns true if the depths of fragments stay between the depths of their triangle's corners.
fn has_own_depths(pipeline: &CompiledPipeline) -> bool {
    let is_filled = pipeline.corners() == 3 && pipeline.raster.polygon_mode == vk::PolygonMode::FILL;
    let is_moved = pipeline.raster.depth_bias_enable || pipeline.criterion().is_some();
    is_filled && !is_moved && pipeline.fragment.as_ref().is_none_or(|program| !program.fragment.writes_depth)
}
