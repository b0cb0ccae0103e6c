//! Draws: vertices are read, shaded, assembled and set up, and become windows of primitives for
//! the tile pass.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use ash::vk;
use parking_lot::Mutex;
use smallvec::SmallVec;
use vitric_base::counters::{Counter, Counters};
use vitric_base::simd::Lanes;
use vitric_exec::bindings::Bindings;
use vitric_exec::interp::{Deadline, Environment};
use vitric_exec::runtime::Ranges;
use vitric_ir::interface::MAX_PATCH_VERTICES;
use vitric_memory::{BufferRange, PlaneRef};

use super::pass::Pass;
use super::pending::{FragmentState, MAX_PENDING, PixelState};
use super::processor::{Changed, Dynamic, IndexBuffer, PUSH_BYTES, Processor, words};
use super::streams::{Parts, stipples_strips};
use super::viewports::{View, guard_band, rect, touchable, touched, views};
use super::{Command, MultiDraw, mesh, patches};
use crate::geometry::tessellation::TessellationKernel;
use crate::geometry::{
    Assembled, AssembledChunk, CapturePlan, Captured, Corners, DrawNumbers, FrontScratch, Indices, MergedKernel, Plan,
    PrimitiveContext, Strips, Triangles, VIEWPORT_WORDS, VertexKernel, VertexSource, vertex_limits, vertex_parameters,
    vertex_ranges,
};
use crate::gpu::{DeviceLost, Gpu, Stage};
use crate::hiz::Visibility;
use crate::pipeline::CompiledPipeline;
use crate::pixel::{PixelContext, Rates, Segment, visibility};
use crate::state::Subdivision;
use crate::state::{DepthStencilState, DynamicState, StencilState};
use crate::state::{corners, is_list, vertices};
use crate::tiling::{Clip, Window};

/// Maximum number of primitives that the front end processes for one window.
pub(super) const MAX_PRIMITIVES: usize = 1 << 14;

/// Minimum number of primitives for distributing a draw over threads, and the unit of a thread's
/// share.
pub(super) const MANY: usize = 1 << 12;
const PART: usize = 1 << 10;

/// Number of draws of one command between two checks of the deadline.
const DRAWS_PER_CHECK: u32 = 64;

/// Maximum number of stippled lines, or polygons with stippled edges, that the front end processes
/// at once.
pub(super) const MAX_STIPPLED: usize = 16;

/// Parameters of one draw.
#[derive(Debug, Clone, Copy)]
pub(super) struct DrawParams {
    pub(super) instances: u32,
    pub(super) numbers: DrawNumbers,
    /// Number of vertices or indices.
    pub(super) count: u32,
    /// The first index; `None` without indexing, where `numbers` holds the first vertex.
    pub(super) first_index: Option<u32>,
}

/// State that draws share while only resources, push constants and the index buffer change.
#[derive(Clone)]
pub(super) struct DrawState {
    pub(super) pipeline: Arc<CompiledPipeline>,
    /// Parameters of the vertex kernel.
    words: SmallVec<[Lanes; 7]>,
    /// The vertex buffers.
    ranges: Ranges,
    /// Set-up state by viewport; empty if primitives are discarded after shading.
    pub(super) contexts: SmallVec<[PrimitiveContext; 1]>,
    visibility: Visibility,
    /// Segment of the draws, or the reason why they cannot be deferred; empty until first needed.
    pub(super) waits: OnceLock<Result<Segment, Counter>>,
    /// True if draws may touch no pixels, and their vertices have no side effects.
    touches_nothing: bool,
}

impl DrawState {
    fn new(processor: &mut Processor<'_>) -> Option<Arc<Self>> {
        let pipeline = processor.state.pipeline()?;
        let views = views(&processor.state, &pipeline);
        let band = guard_band(&pipeline, &views);
        // Without a geometry program, only stream 0 exists.
        let has_stream = pipeline.geometry.is_some() || pipeline.raster.stream == 0;
        let contexts = match pipeline.raster.discard || !has_stream {
            true => SmallVec::new(),
            false => primitive_contexts(processor, &pipeline, (&views, band)),
        };
        let mut prepared = Self {
            words: vertex_parameters(&views[0].0, band).into(),
            ranges: Ranges::default(),
            contexts,
            visibility: visibility(&pipeline, pipeline.depth_stencil.as_ref()),
            waits: OnceLock::new(),
            touches_nothing: touches_nothing(processor, &pipeline),
            pipeline,
        };
        prepared.set_buffers(&processor.state.vertex_buffers);
        Some(Arc::new(prepared))
    }

    fn set_buffers(&mut self, buffers: &[Option<BufferRange>]) {
        self.ranges = vertex_ranges(&self.pipeline.bindings, buffers);
        if self.pipeline.exact_vertices {
            self.words.truncate(VIEWPORT_WORDS);
            self.words.extend(vertex_limits(&self.pipeline.bindings, buffers));
        }
    }
}

/// Returns the draw state for the current state; `None` without a pipeline.
fn prepare(processor: &mut Processor<'_>) -> Option<Arc<DrawState>> {
    let changed = std::mem::replace(&mut processor.state.changed, Changed { fixed: false, buffers: false });
    match processor.prepared.take().filter(|_| !changed.fixed) {
        Some(mut prepared) => {
            if changed.buffers {
                // Deferred draws keep their vertex buffers.
                Arc::make_mut(&mut prepared).set_buffers(&processor.state.vertex_buffers);
            }
            Some(prepared)
        }
        None => DrawState::new(processor),
    }
}

/// Executes a draw command.
pub(super) fn draw(processor: &mut Processor<'_>, command: &Command) -> Result<(), DeviceLost> {
    if processor.pass.is_none() {
        return Ok(());
    }
    let Some(prepared) = prepare(processor) else { return Ok(()) };
    let is_seen = processor.counts_vertices() || !prepared.touches_nothing;
    let done = if is_seen { draw_all(processor, &prepared, command) } else { Ok(()) };
    processor.prepared = Some(prepared);
    done
}

/// Executes the draws of a command.
fn draw_all(processor: &mut Processor<'_>, prepared: &Arc<DrawState>, command: &Command) -> Result<(), DeviceLost> {
    let (pipeline, front) = (&*prepared.pipeline, prepared.pipeline.front());
    let (sets, shared) = (&mut processor.state.graphics_sets, &processor.shared);
    let of_vertex = sets.resolve(0, front, shared);
    let of_fragment = pipeline.fragment.as_ref().map(|fragment| sets.resolve(1, fragment, shared));
    let of_task = pipeline.task.as_ref().map(|task| sets.resolve(2, task, shared));
    if pipeline.has_side_effects() {
        processor.wrote_bound(pipeline.before_rasterization(), &of_vertex);
    }
    processor.wrote_feedback();
    for (program, bindings) in [(&pipeline.fragment, &of_fragment), (&pipeline.task, &of_task)] {
        if let Some((program, bindings)) = program.as_deref().zip(bindings.as_ref()) {
            processor.wrote_bound(std::iter::once(program), bindings);
        }
    }
    if pipeline.reads_attachments {
        processor.flush()?;
    }
    let with_routines = pipeline.with_routines(of_fragment.as_deref(), processor.gpu.config().inlining);
    let of_pixels = with_routines.as_ref().unwrap_or(&prepared.pipeline);
    let (push, dynamic) = (processor.state.push, processor.state.dynamic);
    let of_meshes = mesh::draws(command);
    if of_meshes.is_some() != pipeline.mesh().is_some() {
        return Ok(());
    }
    processor.begin_drawing();
    for draw in 0..of_meshes.unwrap_or_else(|| draws(command)) {
        if draw % DRAWS_PER_CHECK == DRAWS_PER_CHECK - 1 && processor.deadline.expired() {
            return Err(DeviceLost::TimedOut(Stage::before_rasterization(pipeline)));
        }
        let call = call(command, draw);
        if of_meshes.is_none() && processor.lets_wait(prepared, &call) {
            processor.wait((prepared, of_pixels), (&of_vertex, of_fragment.as_ref()), call)?;
            continue;
        }
        processor.drain()?;
        let index_buffer = call.first_index.and_then(|_| processor.state.index_buffer.clone());
        let (of_fragment, index_buffer) = (of_fragment.as_ref(), index_buffer.as_ref());
        let (push, dynamic, sample) = (&push, &dynamic, processor.begin_draw_sample());
        let job =
            Job { prepared, of_pixels, of_vertex: &of_vertex, of_fragment, push, dynamic, index_buffer, call: &call };
        match of_meshes {
            None => run(processor, &job)?,
            Some(_) => mesh::run(processor, (&job, of_task.as_deref()), mesh::groups(command, draw))?,
        }
        processor.add_to_sample(sample);
    }
    processor.keep_time_left();
    Ok(())
}

/// Returns true if a draw may touch no pixels, and its vertices have no side effects.
fn touches_nothing(processor: &Processor<'_>, pipeline: &CompiledPipeline) -> bool {
    let Some(pass) = &processor.pass else { return true };
    let ([x0, y0, x1, y1], area) = (touched(&processor.state.dynamic, pipeline), rect(pass.area));
    let is_empty = x0.max(area[0]) >= x1.min(area[2]) || y0.max(area[1]) >= y1.min(area[3]);
    is_empty && !pipeline.has_side_effects()
}

/// Returns the number of draws of a command.
fn draws(command: &Command) -> u32 {
    match command {
        Command::DrawIndirect { count, counted, .. } | Command::DrawIndexedIndirect { count, counted, .. } => {
            let counted = counted.as_ref().map(|(buffer, offset)| words::<1>(buffer, *offset)[0]);
            counted.map_or(*count, |counted| counted.min(*count))
        }
        Command::DrawMulti { draws, .. } => draws.len() as u32,
        _ => 1,
    }
}

/// Returns the parameters of one draw of a command.
fn call(command: &Command, draw: u32) -> DrawParams {
    let direct = |[count, instances, first_vertex, first_instance]: [u32; 4]| {
        let numbers = DrawNumbers { base_vertex: first_vertex, base_instance: first_instance, draw };
        DrawParams { instances, numbers, count, first_index: None }
    };
    let indexed = |[count, instances, first, offset, first_instance]: [u32; 5]| {
        let numbers = DrawNumbers { base_vertex: offset, base_instance: first_instance, draw };
        DrawParams { instances, numbers, count, first_index: Some(first) }
    };
    let place = |offset: u64, stride: u32| offset + u64::from(draw) * u64::from(stride);
    match command {
        Command::Draw { vertices, instances, first_vertex, first_instance } => {
            direct([*vertices, *instances, *first_vertex, *first_instance])
        }
        Command::DrawIndexed { indices, instances, first_index, vertex_offset, first_instance } => {
            indexed([*indices, *instances, *first_index, *vertex_offset as u32, *first_instance])
        }
        Command::DrawIndirect { buffer, offset, stride, .. } => direct(words(buffer, place(*offset, *stride))),
        Command::DrawIndexedIndirect { buffer, offset, stride, .. } => indexed(words(buffer, place(*offset, *stride))),
        Command::DrawByteCount { instances, first_instance, counter, counter_place, counter_offset, stride } => {
            let bytes = words::<1>(counter, *counter_place)[0].saturating_sub(*counter_offset);
            direct([bytes.checked_div(*stride).unwrap_or(0), *instances, 0, *first_instance])
        }
        Command::DrawMulti { draws, indexed: is_indexed, instances, first_instance } => {
            let MultiDraw { first, count, offset } = draws.get(draw as usize).copied().unwrap_or_default();
            match is_indexed {
                true => indexed([count, *instances, first, offset as u32, *first_instance]),
                false => direct([count, *instances, first, *first_instance]),
            }
        }
        // Mesh draws only need the number of the draw.
        _ => direct([0; 4]),
    }
}

/// Returns the corners of a draw's primitives if the primitives form a list, with no shared
/// vertices; `None` otherwise.
fn list_of<'s>(
    pipeline: &CompiledPipeline,
    call: &DrawParams,
    indices: Option<Option<Indices<'s>>>,
) -> Option<Corners<'s>> {
    let (of_each, restarts) = (of_each(pipeline), pipeline.primitive_restart && indices.is_some());
    let whole = |count: usize| count / of_each * of_each;
    (is_list(pipeline.topology, of_each) && !restarts).then(|| match indices {
        None => Corners::Sequence(call.numbers.base_vertex, whole(call.count as usize)),
        Some(None) => Corners::Assembled(Vec::new()),
        Some(Some(indices)) => Corners::Indexed(Indices { count: whole(indices.count), ..indices }),
    })
}

/// Returns the number of vertices of an assembled primitive. Geometry programs also get adjacent
/// vertices.
pub(super) fn of_each(pipeline: &CompiledPipeline) -> usize {
    match pipeline.geometry {
        _ if pipeline.patches.is_some() => pipeline.patch_state.vertices.clamp(1, MAX_PATCH_VERTICES) as usize,
        None => corners(pipeline.topology),
        Some(_) => vertices(pipeline.topology),
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

/// Returns the indices of a draw.
fn indices<'s>(
    pipeline: &CompiledPipeline,
    IndexBuffer { range, index_type, .. }: &'s IndexBuffer,
    call: &DrawParams,
    first: u32,
) -> Indices<'s> {
    let size: u64 = match *index_type {
        vk::IndexType::UINT8_KHR => 1,
        vk::IndexType::UINT16 => 2,
        _ => 4,
    };
    let room = range.as_ref().map_or(0, |range| (range.size / size).saturating_sub(u64::from(first)));
    // Indices beyond the buffer draw nothing, unless they must read as zeros. A large count in an
    // indirect buffer therefore costs nothing.
    let asked = pipeline.exact_vertices || range.is_none();
    let count = if asked { u64::from(call.count) } else { u64::from(call.count).min(room) } as usize;
    let offset = range.as_ref().map_or(0, |range| range.offset).saturating_add(u64::from(first) * size);
    let buffer = range.as_ref().map(|range| &*range.buffer);
    Indices { buffer, offset, size, base: call.numbers.base_vertex, count, room: room as usize }
}

/// One draw with all state that it depends on.
#[derive(Clone, Copy)]
pub(super) struct Job<'a> {
    pub(super) prepared: &'a DrawState,
    /// The pipeline of the pixel units, with inlined routines.
    pub(super) of_pixels: &'a Arc<CompiledPipeline>,
    pub(super) of_vertex: &'a Bindings,
    pub(super) of_fragment: Option<&'a Arc<Bindings>>,
    pub(super) push: &'a [u8; PUSH_BYTES],
    pub(super) dynamic: &'a Dynamic,
    pub(super) index_buffer: Option<&'a IndexBuffer>,
    pub(super) call: &'a DrawParams,
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
    pub(super) fn open(self, prepared: &'a DrawState, source: VertexSource<'a>) -> Assembled<'a> {
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
            contexts: &prepared.contexts,
            layers: self.layers,
            posh: None,
            visible: None,
            captures: self.captures,
        }
    }
}

impl<'a> Job<'a> {
    /// Returns the environment of the draw's vertex program.
    pub(super) fn environment(&self, deadline: &'a Deadline) -> Environment<'a> {
        Environment {
            parameters: self.prepared.words.as_flattened(),
            ranges: &self.prepared.ranges,
            push: self.push,
            ..Environment::new(self.of_vertex, deadline)
        }
    }

    /// Returns the state that the draw's fragments depend on.
    pub(super) fn drawn(&self) -> FragmentState<'a> {
        let (pipeline, visibility) = (self.of_pixels, self.prepared.visibility);
        FragmentState { pipeline, dynamic: self.dynamic, visibility, bindings: self.of_fragment, push: self.push }
    }

    /// Returns the indices; `None` without indexing, `Some(None)` without an index buffer.
    fn indices(&self) -> Option<Option<Indices<'a>>> {
        let first = self.call.first_index?;
        Some(self.index_buffer.map(|buffer| indices(&self.prepared.pipeline, buffer, self.call, first)))
    }

    /// Returns the chunks of a draw that is not a list, if it is too long to be assembled at once.
    fn parts(&self) -> Option<Parts<'a>> {
        let is_list = list_of(&self.prepared.pipeline, self.call, self.indices()).is_some();
        (!is_list).then(|| self.all_parts()).filter(Parts::are_several)
    }

    /// Returns the chunks of a draw that is not a list.
    fn all_parts(&self) -> Parts<'a> {
        let restart = self.index_buffer.and_then(|buffer| buffer.restart);
        Parts::new(&self.prepared.pipeline, self.call, (self.indices(), restart))
    }

    /// Assembles the primitives, unless the draw comes in several chunks. Returns `None` if the
    /// pipeline needs another kind of primitive.
    pub(super) fn assemble<'b>(
        &self,
        environment: &'b Environment<'b>,
        takers: FrontEndContext<'b>,
    ) -> Option<Assembled<'b>>
    where
        'a: 'b,
    {
        let (prepared, call) = (self.prepared, self.call);
        let pipeline = &prepared.pipeline;
        let (merged, patches) = (pipeline.merged_kernel.get(pipeline), patches_of(pipeline));
        let of_geometry = patches.map_or_else(|| of_each(pipeline), |(_, subdivision)| subdivision.corners());
        let has_patches = pipeline.topology == vk::PrimitiveTopology::PATCH_LIST;
        if merged.is_some_and(|kernel| kernel.vertices() != of_geometry) || has_patches != patches.is_some() {
            return None;
        }
        let of_vertices = || match takers.is_capturing {
            _ if patches.is_some() => evaluation_kernel(pipeline, takers.is_capturing),
            true => Some(pipeline.vertex_kernel.captured(pipeline)),
            false => Some(pipeline.vertex_kernel.get(pipeline)),
        };
        let kernel = merged.map(MergedKernel::finish).or_else(of_vertices)?;
        let (instance, numbers) = (call.numbers.base_instance, call.numbers);
        let mut assembled = Assembled {
            of_each: of_each(pipeline),
            patches,
            merged: merged.map(|kernel| (kernel, kernel.mode(takers.gpu.config().merged))),
            instances: call.instances,
            ..takers.open(prepared, VertexSource { kernel, environment, instance, numbers })
        };
        match list_of(pipeline, call, self.indices()) {
            Some(corners) => {
                let vertices = corners.count();
                assembled.corners = corners;
                count_inputs(&assembled, vertices);
            }
            None => {
                let mut parts = self.all_parts();
                if !parts.are_several()
                    && let Some(part) = parts.next()
                {
                    self.take(&mut assembled, part);
                }
            }
        }
        Some(assembled)
    }

    /// Replaces the primitives by those of a chunk, and counts the chunk's vertices.
    fn take(&self, assembled: &mut Assembled<'_>, (part, vertices): (AssembledChunk, usize)) {
        assembled.corners = Corners::Assembled(part.corners);
        assembled.first_primitive = part.first as u32;
        let before = assembled.strips.take();
        assembled.strips = stipples_strips(&self.prepared.pipeline).then(|| Strips::new(part.starts, before.as_ref()));
        count_inputs(assembled, vertices);
    }
}

/// Counts the input of a draw. `vertices` is the number per instance.
fn count_inputs(assembled: &Assembled<'_>, vertices: usize) {
    if let Some(counters) = assembled.counters {
        counters.count(Counter::InputVertices, vertices as u64 * u64::from(assembled.instances));
        counters.count(Counter::InputPrimitives, assembled.count() as u64);
    }
}

/// Runs one draw of a command and adds its primitives to windows.
fn run(processor: &mut Processor<'_>, job: &Job<'_>) -> Result<(), DeviceLost> {
    let pipeline = &job.prepared.pipeline;
    if pipeline.raster.discard && !pipeline.has_side_effects() && !processor.counts_vertices() {
        return Ok(());
    }
    let (gpu, deadline, counters) = (processor.gpu, processor.deadline.clone(), processor.counters().cloned());
    let layers = processor.pass.as_ref().map_or(1, |pass| pass.layers);
    let environment = job.environment(&deadline);
    let (is_capturing, plan) = (processor.state.feedback.is_active(), processor.capture_plan(pipeline));
    let takers = FrontEndContext { gpu, layers, counters: counters.as_deref(), is_capturing, captures: plan.as_ref() };
    let Some(mut assembled) = job.assemble(&environment, takers) else { return Ok(()) };
    if job.parts().is_none() {
        return run_part(processor, job, &mut assembled);
    }
    // Strips, fans and draws with restarts are assembled again for each instance.
    (assembled.instances, assembled.source.instance) = (1, job.call.numbers.base_instance);
    for _ in 0..job.call.instances {
        assembled.strips = None;
        let mut parts = job.parts().into_iter().flat_map(|mut parts| std::iter::from_fn(move || parts.next()));
        parts.try_for_each(|part| {
            job.take(&mut assembled, part);
            match deadline.expired() {
                true => Err(DeviceLost::TimedOut(Stage::before_rasterization(pipeline))),
                false => run_part(processor, job, &mut assembled),
            }
        })?;
        assembled.source.instance = assembled.source.instance.wrapping_add(1);
    }
    Ok(())
}

/// Runs the assembled primitives of a draw and adds them to windows.
fn run_part<'a>(processor: &mut Processor<'_>, job: &Job<'a>, assembled: &mut Assembled<'a>) -> Result<(), DeviceLost> {
    // Pipeline statistics are those of a machine that shades every vertex.
    let (posh, pipeline) = (processor.gpu.config().posh, &job.prepared.pipeline);
    let is_culled = posh.takes_draw(assembled.count()) && assembled.suits_posh() && !processor.counts_vertices();
    assembled.posh = is_culled.then(|| (posh, pipeline.vertex_kernel.positions(pipeline)));
    match assembled.patches {
        None => windows(processor, &job.drawn(), assembled),
        Some(_) => patches::windows(processor, &job.drawn(), assembled),
    }
}

/// Adds the primitives of a draw to windows. Draws with many primitives use all threads. If the
/// queue is full, a tile pass runs at the same time.
pub(super) fn windows(
    processor: &mut Processor<'_>,
    drawn: &FragmentState<'_>,
    assembled: &Assembled<'_>,
) -> Result<(), DeviceLost> {
    let size = processor.gpu.config().window.min(MAX_PRIMITIVES);
    let (count, mut start) = (assembled.count(), 0);
    // A line with a stipple becomes as many primitives as the pattern has parts.
    let is_stippled = drawn.pipeline.stipples_lines();
    let most = if is_stippled { MAX_STIPPLED } else { MAX_PENDING };
    // Limits count output primitives.
    let amplification = assembled.amplification();
    let (size_of_parts, most) = ((size / amplification).max(1), (most / amplification).max(1));
    while start < count {
        let range = start..count.min(start + most);
        if start > 0 && assembled.source.environment.deadline.expired() {
            return Err(DeviceLost::TimedOut(Stage::before_rasterization(drawn.pipeline)));
        }
        start = range.end;
        let is_full = processor.pending.is_full(range.len().saturating_mul(amplification));
        if range.len() >= MANY.min(size).div_ceil(amplification) && assembled.is_pure() && !is_stippled {
            // Distributes the primitives over all threads.
            let part = range.len().div_ceil(processor.gpu.config().threads);
            let size = size_of_parts.min(part.next_multiple_of(PART.div_ceil(amplification)));
            let piece = |front: &mut FrontScratch, index: usize, out: &mut Vec<Triangles>| {
                let start = range.start + index * size;
                assembled.process(front, start..range.end.min(start + size), out)
            };
            in_parallel(processor, (drawn, assembled.captures), (range.len().div_ceil(size), &piece), is_full)?;
            continue;
        }
        if is_full {
            processor.flush_beside((0, &|_| ()))?;
        }
        let count = range.len();
        let work = |front: &mut FrontScratch, out: &mut Vec<Triangles>| assembled.process(front, range, out);
        in_order(processor, (drawn, assembled.captures), (size, count), work)?;
    }
    Ok(())
}

/// Adds primitives of a draw that `work` sets up to windows, behind all earlier primitives.
///
/// `size` is the size of a full window. `count` is the approximate number of primitives.
pub(super) fn in_order(
    processor: &mut Processor<'_>,
    (drawn, captures): (&FragmentState<'_>, Option<&CapturePlan>),
    (size, count): (usize, usize),
    work: impl FnOnce(&mut FrontScratch, &mut Vec<Triangles>) -> bool,
) -> Result<(), DeviceLost> {
    let done = if drawn.pipeline.last().routes() {
        let mut made = Vec::new();
        let done = work(&mut processor.front, &mut made);
        let grid = *processor.pending.grid();
        let made = made.into_iter().filter(|triangles| !triangles.is_empty());
        let clip = [Clip::of_all(touched(drawn.dynamic, drawn.pipeline))];
        let windows = made.map(|triangles| Window::new(triangles, &grid, &clip, None));
        processor.pending.extend_layers(drawn, windows);
        done
    } else {
        let draw = processor.pending.draw(drawn, 0);
        let mut open = processor.pending.open(draw, count);
        let done = work(&mut processor.front, &mut open);
        processor.pending.close_full(draw, open, size);
        done
    };
    if !done {
        return Err(DeviceLost::TimedOut(Stage::before_rasterization(drawn.pipeline)));
    }
    if let Some(plan) = captures {
        let captured = std::mem::take(&mut processor.front.captured);
        processor.write_captured(plan, &captured);
    }
    Ok(())
}

/// A function that sets up the primitives of a chunk, selected by number.
type SetUpPiece<'a> = dyn Fn(&mut FrontScratch, usize, &mut Vec<Triangles>) -> bool + Sync + 'a;

/// Adds `count` chunks of a draw to windows, on all threads, after a flush if `flushes`.
pub(super) fn in_parallel(
    processor: &mut Processor<'_>,
    (drawn, captures): (&FragmentState<'_>, Option<&CapturePlan>),
    (count, set_up): (usize, &SetUpPiece<'_>),
    flushes: bool,
) -> Result<(), DeviceLost> {
    let made: Vec<Mutex<(Vec<Window>, Captured)>> = (0..count).map(|_| Mutex::default()).collect();
    let (grid, ok, gpu) = (*processor.pending.grid(), AtomicBool::new(true), processor.gpu);
    let clip = [Clip::of_all(touched(drawn.dynamic, drawn.pipeline))];
    let piece = |index: usize| {
        let mut triangles = Vec::new();
        let mut front = gpu.fronts().acquire();
        if !ok.load(Ordering::Relaxed) || !set_up(&mut front, index, &mut triangles) {
            ok.store(false, Ordering::Relaxed);
        }
        let captured = std::mem::take(&mut front.captured);
        let (left, empty): (Vec<_>, Vec<_>) = triangles.into_iter().partition(|triangles| !triangles.is_empty());
        empty.into_iter().for_each(|triangles| gpu.triangles().put(triangles));
        let left = left.into_iter();
        // These windows are small, so they are tested only in their tiles.
        *made[index].lock() = (left.map(|triangles| Window::new(triangles, &grid, &clip, None)).collect(), captured);
    };
    if flushes {
        processor.flush_beside((count, &piece))?;
    } else {
        gpu.workers().parallel(count, || (), |(), index| piece(index));
    }
    if !ok.into_inner() {
        return Err(DeviceLost::TimedOut(Stage::before_rasterization(drawn.pipeline)));
    }
    processor.pending.close();
    for (windows, captured) in made.into_iter().map(Mutex::into_inner) {
        processor.pending.extend_layers(drawn, windows.into_iter());
        if let Some(plan) = captures {
            processor.write_captured(plan, &captured);
        }
    }
    Ok(())
}

/// Returns the set-up state by viewport.
fn primitive_contexts(
    processor: &Processor<'_>,
    pipeline: &CompiledPipeline,
    (views, band): (&[View], f32),
) -> SmallVec<[PrimitiveContext; 1]> {
    let dynamic = |flag| pipeline.dynamic.contains(flag);
    let mut raster = pipeline.raster;
    if dynamic(DynamicState::LINE_WIDTH) {
        raster.line_width = processor.state.dynamic.line_width;
    }
    if dynamic(DynamicState::DEPTH_BIAS) {
        raster.depth_bias = processor.state.dynamic.depth_bias;
    }
    if dynamic(DynamicState::LINE_STIPPLE) {
        raster.line_stipple = raster.line_stipple.and(Some(processor.state.dynamic.line_stipple));
    }
    let context = |view: &View| PrimitiveContext {
        raster,
        // Depth bias applies to polygons only.
        bias: (raster.depth_bias_enable && pipeline.corners() == 3).then_some(raster.depth_bias),
        depths_within_corners: has_own_depths(pipeline),
        viewport: view.0,
        band,
        fragment: pipeline.fragment.clone(),
        gives_rate: pipeline.gives_rate(),
        depth_bits: processor.pass.as_ref().map_or(0, Pass::depth_bits),
        samples: pipeline.multisample.samples,
        criterion: pipeline.criterion(),
        smooth: pipeline.smooths_lines(),
        routed: pipeline.last().routes().then(|| touchable(view, band)),
        plan: Plan::default(),
    };
    views.iter().map(|view| context(view).complete()).collect()
}

/// Returns true if the depths of fragments stay between the depths of their triangle's corners.
fn has_own_depths(pipeline: &CompiledPipeline) -> bool {
    let is_filled = pipeline.corners() == 3 && pipeline.raster.polygon_mode == vk::PolygonMode::FILL;
    let is_moved = pipeline.raster.depth_bias_enable || pipeline.criterion().is_some();
    is_filled && !is_moved && pipeline.fragment.as_ref().is_none_or(|program| !program.fragment.writes_depth)
}

/// Returns the state of the pixel units for draws with a state.
pub(super) fn pixel_context<'a>(
    drawn: &'a PixelState,
    pass: &'a Pass,
    deadline: &'a Deadline,
    occlusion: Option<&'a AtomicU64>,
) -> PixelContext<'a> {
    let (pipeline, state) = (&*drawn.pipeline, &drawn.dynamic);
    let dynamic = |flag| pipeline.dynamic.contains(flag);
    let depth_view = pass.depth_view();
    let used = |aspect| !pass.subpass().unused_aspects.contains(aspect);
    let layer = pass.view_index() + drawn.layer;
    let plane = |aspect| depth_view.filter(|_| used(aspect)).and_then(|view| view.plane(aspect, 0, layer));
    let tests = pipeline
        .depth_stencil
        .filter(|_| depth_view.is_some())
        .filter(|tests| tests.depth_test || tests.stencil_test || tests.depth_bounds_test)
        .map(|tests| with_dynamic(state, pipeline, tests));
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
        multisample: pipeline.multisample,
        locations: pipeline.multisample.locations(),
        blend_constants: match dynamic(DynamicState::BLEND_CONSTANTS) {
            true => state.blend_constants,
            false => pipeline.blend_constants,
        },
        rates: rates(drawn, pass, layer),
        scissor: touched(state, pipeline),
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

/// Returns the fragment sizes of draws to a layer; `None` if every fragment is one pixel.
fn rates<'a>(draw: &PixelState, pass: &'a Pass, layer: u32) -> Option<Rates<'a>> {
    let texels = pass.subpass().rate.and_then(|rate| {
        let view = pass.view(rate.attachment).filter(|view| view.desc.format == vk::Format::R8_UINT)?;
        // A view with one layer applies to all layers.
        let layer = if view.desc.layers > 1 { layer } else { 0 };
        Some((view.plane(vk::ImageAspectFlags::COLOR, 0, layer)?, rate.texel))
    });
    let is_dynamic = draw.pipeline.dynamic.contains(DynamicState::FRAGMENT_RATE);
    Rates::new(&draw.pipeline, if is_dynamic { draw.dynamic.rate } else { draw.pipeline.rate }, texels)
}

fn with_dynamic(state: &Dynamic, pipeline: &CompiledPipeline, mut tests: DepthStencilState) -> DepthStencilState {
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
