//! State of the pixel units for draws.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use ash::vk;
use vitric_exec::bindings::Bindings;
use vitric_exec::interp::Deadline;
use vitric_memory::PlaneRef;

use super::dynamic::DynamicValues;
use super::pass::Pass;
use super::state::PUSH_BYTES;
use super::viewports::fragment_area;
use crate::hiz::{DepthFormat, Hierarchy, UpdateRules, Visibility};
use crate::pipeline::CompiledPipeline;
use crate::pixel::{PixelContext, RateMap, Rates, Segment};
use crate::raster::{Coverage, Criterion};
use crate::state::{DepthStencilState, DynamicState, RateTexels, StencilState};

/// State of the pixel units for draws, without resources and push constants. A pass has few of
/// them.
pub(super) struct PixelState {
    pub(super) pipeline: Arc<CompiledPipeline>,
    pub(super) dynamic: DynamicValues,
    /// The layer of the attachments.
    pub(super) layer: u32,
    /// Use of the Hi-Z structures, if there are any.
    pub(super) visibility: Visibility,
    /// Segment of the draws, in which later primitives may hide earlier ones, if known.
    pub(super) segment: Option<Segment>,
    /// Number of commands that have draws with this state.
    pub(super) commands: u32,
    /// Number of the last one.
    last_command: u32,
}

/// State that a draw's fragments depend on, borrowed from the command processor.
pub(super) struct FragmentState<'a> {
    pub(super) pipeline: &'a Arc<CompiledPipeline>,
    pub(super) dynamic: &'a DynamicValues,
    pub(super) visibility: Visibility,
    /// Segment of the draw, in which later primitives may hide earlier ones, if known.
    pub(super) segment: Option<Segment>,
    /// Resources of the fragment program.
    pub(super) bindings: Option<&'a Arc<Bindings>>,
    pub(super) push: &'a [u8; PUSH_BYTES],
}

impl PixelState {
    /// Returns the state of draws to the first layer. The use of Hi-Z structures is left at its
    /// default.
    pub(super) fn of(dynamic: &DynamicValues, pipeline: &Arc<CompiledPipeline>) -> Self {
        let (visibility, segment, commands, last_command) = Default::default();
        Self { pipeline: pipeline.clone(), dynamic: *dynamic, layer: 0, visibility, segment, commands, last_command }
    }

    /// Returns the state of a draw of command number `command` to a layer.
    pub(super) fn of_draw(fragments: &FragmentState<'_>, layer: u32, command: u32) -> Self {
        Self {
            pipeline: fragments.pipeline.clone(),
            dynamic: *fragments.dynamic,
            layer,
            visibility: fragments.visibility,
            segment: fragments.segment,
            commands: 1,
            last_command: command,
        }
    }

    /// Returns true if this is the state of a draw to a layer.
    pub(super) fn is_of(&self, fragments: &FragmentState<'_>, layer: u32) -> bool {
        Arc::ptr_eq(&self.pipeline, fragments.pipeline)
            && self.layer == layer
            && self.dynamic.is_same_for_fragments(fragments.dynamic)
    }

    /// Records that a command has draws with this state.
    pub(super) fn count_command(&mut self, command: u32) {
        if std::mem::replace(&mut self.last_command, command) != command {
            self.commands = self.commands.saturating_add(1);
        }
    }

    /// Returns the pixels that fragments may change.
    pub(super) fn fragment_area(&self) -> [i64; 4] {
        fragment_area(self.dynamic.first_viewport, &self.pipeline)
    }

    /// Returns the rules by which the draws update Hi-Z bounds of `depth`.
    pub(super) fn update_rules(&self, depth: &Hierarchy, depth_bits: u32) -> UpdateRules {
        UpdateRules {
            visibility: self.visibility,
            scissor: self.fragment_area(),
            format: DepthFormat { bits: depth_bits, samples: self.pipeline.multisample.samples },
            extent: depth.extent(),
            full: Criterion::of_full_cells(self.pipeline.criterion()),
        }
    }

    /// Returns the state of the pixel units for draws with this state.
    pub(super) fn context<'a>(
        &'a self,
        pass: &'a Pass,
        deadline: &'a Deadline,
        occlusion: Option<&'a AtomicU64>,
    ) -> PixelContext<'a> {
        let pipeline = &*self.pipeline;
        let depth_view = pass.depth_view();
        let used = |aspect| !pass.subpass().unused_aspects.contains(aspect);
        let layer = pass.view_index() + self.layer;
        let plane = |aspect| depth_view.filter(|_| used(aspect)).and_then(|view| view.plane(aspect, 0, layer));
        let tests = pipeline
            .depth_stencil
            .filter(|_| depth_view.is_some())
            .filter(|tests| tests.depth_test || tests.stencil_test || tests.depth_bounds_test)
            .map(|tests| with_dynamic(&self.dynamic, pipeline, tests));
        let depth = plane(vk::ImageAspectFlags::DEPTH);
        let is_alone = |tests: &DepthStencilState| tests.depth_test && !tests.depth_bounds_test && !tests.stencil_test;
        PixelContext {
            fragment: pipeline.fragment.as_deref(),
            pipeline: pipeline.state(),
            kernels: &pipeline.kernels,
            colors: colors(pass, layer),
            depth_alone: tests.filter(|tests| depth.is_some() && is_alone(tests)),
            depth,
            stencil: plane(vk::ImageAspectFlags::STENCIL),
            depth_bits: pass.depth_bits(),
            tests,
            criterion: pipeline.criterion(),
            coverage: Coverage::default(),
            multisample: pipeline.multisample,
            locations: pipeline.multisample.locations(),
            blend_constants: match pipeline.dynamic.contains(DynamicState::BLEND_CONSTANTS) {
                true => self.dynamic.blend_constants,
                false => pipeline.blend_constants,
            },
            rates: self.rates(pass, layer),
            scissor: self.fragment_area(),
            cuts: pipeline.last().routes(),
            overwrites: None,
            visibility: Visibility::default(),
            segment: None,
            direct: None,
            pitches: Vec::new(),
            occlusion,
            drops: true,
            deadline,
        }
    }

    /// Returns the sizes of fragments in a layer; `None` if every fragment is one pixel.
    fn rates<'a>(&'a self, pass: &'a Pass, layer: u32) -> Option<Rates<'a>> {
        let map = pass.subpass().rate.and_then(|rate| {
            let view = pass.view(rate.attachment)?;
            // A view with one layer applies to all layers.
            let layer = if view.desc.layers > 1 { layer } else { 0 };
            let plane = view.plane(vk::ImageAspectFlags::COLOR, 0, layer)?;
            match rate.texels {
                RateTexels::Sizes { area } if view.desc.format == vk::Format::R8_UINT => {
                    Some(RateMap::of_sizes(plane, area))
                }
                RateTexels::Densities if view.desc.format == vk::Format::R8G8_UNORM => {
                    Some(RateMap::of_densities(plane, pass.extent))
                }
                _ => None,
            }
        });
        let is_dynamic = self.pipeline.dynamic.contains(DynamicState::FRAGMENT_RATE);
        Rates::new(&self.pipeline, if is_dynamic { self.dynamic.rate } else { self.pipeline.rate }, map)
    }
}

/// Returns depth and stencil tests with dynamic state applied.
fn with_dynamic(state: &DynamicValues, pipeline: &CompiledPipeline, mut tests: DepthStencilState) -> DepthStencilState {
    let dynamic = |flag| pipeline.dynamic.contains(flag);
    if dynamic(DynamicState::DEPTH_BOUNDS) {
        tests.depth_bounds = state.depth_bounds;
    }
    let faces: [&mut StencilState; 2] = [&mut tests.front, &mut tests.back];
    for (face, [compare_mask, write_mask, reference]) in faces.into_iter().zip(state.stencil) {
        if dynamic(DynamicState::STENCIL_COMPARE_MASK) {
            face.compare_mask = compare_mask;
        }
        if dynamic(DynamicState::STENCIL_WRITE_MASK) {
            face.write_mask = write_mask;
        }
        if dynamic(DynamicState::STENCIL_REFERENCE) {
            face.reference = reference;
        }
    }
    tests
}

/// Returns the planes of a layer of the subpass's colour attachments.
fn colors(pass: &Pass, layer: u32) -> Vec<Option<PlaneRef<'_>>> {
    let color = vk::ImageAspectFlags::COLOR;
    let plane = |attachment: &Option<u32>| pass.view((*attachment)?)?.plane(color, 0, layer);
    pass.subpass().colors.iter().map(plane).collect()
}
