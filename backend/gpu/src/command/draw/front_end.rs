//! The front end's input: draws with all state that they depend on, and their assembled primitives.

use std::sync::Arc;

use ash::vk;
use vitric_base::counters::{Counter, Counters};
use vitric_exec::bindings::Bindings;
use vitric_exec::interp::{Deadline, Environment};

use super::super::context::PassContext;
use super::super::dynamic::DynamicValues;
use super::super::pixel_state::{FragmentState, PixelState};
use super::super::state::{IndexBuffer, PUSH_BYTES};
use super::indices::IndexSource;
use super::params::DrawParams;
use super::state::DrawState;
use super::strips::{StripChunks, primitive_vertices, stipples_strips};
use crate::geometry::tessellation::TessellationKernel;
use crate::geometry::{
    Assembled, AssembledChunk, CapturePlan, Corners, Indices, MergedKernel, Strips, VertexKernel, VertexSource,
};
use crate::gpu::Gpu;
use crate::pipeline::CompiledPipeline;
use crate::state::{Subdivision, is_list};

/// One draw with all state that it depends on.
#[derive(Clone, Copy)]
pub(super) struct DrawJob<'a> {
    pub(super) state: &'a Arc<DrawState>,
    /// The pipeline of the pixel units, with inlined routines.
    pub(super) pixel_pipeline: &'a Arc<CompiledPipeline>,
    pub(super) vertex_bindings: &'a Arc<Bindings>,
    pub(super) fragment_bindings: Option<&'a Arc<Bindings>>,
    pub(super) push: &'a [u8; PUSH_BYTES],
    pub(super) dynamic: &'a DynamicValues,
    pub(super) index_buffer: Option<&'a IndexBuffer>,
    pub(super) params: &'a DrawParams,
}

/// Environment in which the front end processes a draw.
#[derive(Clone, Copy)]
pub(super) struct FrontEndContext<'a> {
    pub(super) gpu: &'a Gpu,
    /// Number of layers that are drawn to.
    pub(super) layers: u32,
    pub(super) counters: Option<&'a Counters>,
    /// True if transform feedback is active.
    pub(super) is_capturing: bool,
    /// Plan of the data to capture for transform feedback or stream queries.
    pub(super) captures: Option<&'a CapturePlan>,
}

impl<'a> FrontEndContext<'a> {
    /// Returns a draw without primitives.
    pub(super) fn empty_draw(self, state: &'a DrawState, source: VertexSource<'a>) -> Assembled<'a> {
        Assembled {
            source,
            corners: Corners::Assembled(Vec::new()),
            of_each: 1,
            patches: None,
            merged: None,
            mesh: None,
            instances: 1,
            first_primitive: 0,
            spare: self.gpu.triangles(),
            counters: self.counters,
            strips: None,
            contexts: &state.contexts,
            layers: self.layers,
            posh: None,
            captures: self.captures,
        }
    }
}

impl<'a> DrawJob<'a> {
    /// Returns the environment of the draw's vertex program.
    pub(super) fn environment(&self, deadline: &'a Deadline) -> Environment<'a> {
        Environment {
            parameters: self.state.parameters.as_flattened(),
            ranges: &self.state.ranges,
            push: self.push,
            ..Environment::new(self.vertex_bindings, deadline)
        }
    }

    /// Returns the state that the draw's fragments depend on.
    pub(super) fn fragments(&self) -> FragmentState<'a> {
        FragmentState {
            pipeline: self.pixel_pipeline,
            dynamic: self.dynamic,
            visibility: self.state.visibility,
            segment: None,
            bindings: self.fragment_bindings,
            push: self.push,
        }
    }

    /// Returns the state that the draw's fragments depend on, with their segment in a pass.
    pub(super) fn fragments_in(&self, context: &PassContext<'_>) -> FragmentState<'a> {
        // Queries count primitives that later ones hide.
        let is_counted = context.queries.occlusion.counter().is_some() || context.counts_vertices();
        let may_hide = self.state.visibility.tests.is_some() && context.pending.depth(0).is_some() && !is_counted;
        let segment = || {
            let state = PixelState::of(self.dynamic, &self.state.pipeline);
            state.context(context.pass, context.deadline, None).with_segment().segment
        };
        let segment = may_hide.then(|| *self.state.segment.get_or_init(segment)).flatten();
        FragmentState { segment, ..self.fragments() }
    }

    /// Returns the chunks of a draw that is not a list, if it is too long to be assembled at once.
    pub(super) fn chunks(&self) -> Option<StripChunks<'a>> {
        let is_list = self.list_corners().is_some();
        (!is_list).then(|| self.strip_chunks()).filter(StripChunks::has_several)
    }

    /// Assembles the primitives, unless the draw comes in several chunks. Returns `None` if the
    /// pipeline needs another kind of primitive.
    pub(super) fn assemble<'b>(
        &self,
        environment: &'b Environment<'b>,
        context: FrontEndContext<'b>,
    ) -> Option<Assembled<'b>>
    where
        'a: 'b,
    {
        let (state, params) = (&**self.state, self.params);
        let pipeline = &state.pipeline;
        let (merged, patches) = (pipeline.merged_kernel.get(pipeline), patches_of(pipeline));
        let input_vertices =
            patches.map_or_else(|| primitive_vertices(pipeline), |(_, subdivision)| subdivision.corners());
        let has_patches = pipeline.topology == vk::PrimitiveTopology::PATCH_LIST;
        if merged.is_some_and(|kernel| kernel.vertices() != input_vertices) || has_patches != patches.is_some() {
            return None;
        }
        let vertex_kernel = || match context.is_capturing {
            _ if patches.is_some() => evaluation_kernel(pipeline, context.is_capturing),
            true => Some(pipeline.vertex_kernel.captured(pipeline)),
            false => Some(pipeline.vertex_kernel.get(pipeline)),
        };
        let kernel = merged.map(MergedKernel::finish).or_else(vertex_kernel)?;
        let (instance, numbers) = (params.numbers.base_instance, params.numbers);
        let mut assembled = Assembled {
            of_each: primitive_vertices(pipeline),
            patches,
            merged: merged.map(|kernel| kernel.stage(pipeline, context.gpu.config().merged)),
            instances: params.instances,
            ..context.empty_draw(state, VertexSource { kernel, environment, instance, numbers })
        };
        match self.list_corners() {
            Some(corners) => {
                let vertices = corners.count();
                assembled.corners = corners;
                count_inputs(&assembled, vertices);
            }
            None => {
                let mut chunks = self.strip_chunks();
                if !chunks.has_several()
                    && let Some((chunk, vertices)) = chunks.next()
                {
                    self.assemble_chunk(&mut assembled, chunk, vertices);
                }
            }
        }
        Some(assembled)
    }

    /// Replaces the primitives by those of a chunk, and counts the chunk's vertices.
    pub(super) fn assemble_chunk(&self, assembled: &mut Assembled<'_>, chunk: AssembledChunk, vertices: usize) {
        assembled.corners = Corners::Assembled(chunk.corners);
        assembled.first_primitive = chunk.first as u32;
        let before = assembled.strips.take();
        assembled.strips = stipples_strips(&self.state.pipeline).then(|| Strips::new(chunk.starts, before.as_ref()));
        count_inputs(assembled, vertices);
    }

    fn index_source(&self) -> IndexSource<'a> {
        IndexSource::of(&self.state.pipeline, self.index_buffer, self.params)
    }

    /// Returns the chunks of a draw that is not a list.
    fn strip_chunks(&self) -> StripChunks<'a> {
        let restart = self.index_buffer.and_then(|buffer| buffer.restart);
        StripChunks::new(&self.state.pipeline, self.params, self.index_source(), restart)
    }

    /// Returns the corners of the primitives if the primitives form a list, with no shared
    /// vertices; `None` otherwise.
    fn list_corners(&self) -> Option<Corners<'a>> {
        let (pipeline, source) = (&self.state.pipeline, self.index_source());
        let vertices = primitive_vertices(pipeline);
        if !is_list(pipeline.topology, vertices) || pipeline.primitive_restart && source.is_indexed() {
            return None;
        }
        let whole = |count: usize| count / vertices * vertices;
        Some(match source {
            IndexSource::Sequence => {
                Corners::Sequence(self.params.numbers.base_vertex, whole(self.params.count as usize))
            }
            IndexSource::Unbound => Corners::Assembled(Vec::new()),
            IndexSource::Buffer(indices) => Corners::Indexed(Indices { count: whole(indices.count), ..indices }),
        })
    }
}

/// Returns the tessellation programs of a pipeline, and the state of the tessellator.
fn patches_of(pipeline: &CompiledPipeline) -> Option<(&TessellationKernel, Subdivision)> {
    Some((pipeline.tessellation_kernel.get(pipeline)?, pipeline.subdivision()?))
}

/// Returns the kernel that shades the tessellator's vertices for set-up, if there is no geometry
/// program.
fn evaluation_kernel(pipeline: &CompiledPipeline, is_capturing: bool) -> Option<&VertexKernel> {
    match is_capturing {
        true => pipeline.tessellation_kernel.captured(pipeline),
        false => pipeline.tessellation_kernel.get(pipeline)?.vertices(),
    }
}

/// Counts the input of a draw. `vertices` is the number per instance.
fn count_inputs(assembled: &Assembled<'_>, vertices: usize) {
    if let Some(counters) = assembled.counters {
        counters.count(Counter::InputVertices, vertices as u64 * u64::from(assembled.instances));
        counters.count(Counter::InputPrimitives, assembled.count() as u64);
    }
}
