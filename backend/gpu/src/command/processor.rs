//! The command processor: executes command lists, tracks state, and dispatches work to the units.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ash::vk;
use vitric_base::counters::{Counter, Counters, SampleKind, Sampler};
use vitric_base::object_pool::PoolGuard;
use vitric_base::workers::Workers;
use vitric_exec::interp::Deadline;
use vitric_ir::interface::PUSH_CONSTANT_BYTES;
use vitric_memory::{Buffer, BufferRange, InUse};

use super::feedback::{FeedbackState, StreamQuery};
use super::lookahead::Waiting;
use super::name::Running;
use super::pass::Pass;
use super::pending::Pending;
use super::query::{OcclusionQueries, StatisticsQueries};
use super::sets::{BoundSets, OfDevice};
use super::time::TimesLeft;
use super::viewports::{self, Views};
use super::{Command, CommandList, QueryKind, QueryPool, depth, dispatch, draw};
use crate::geometry::FrontScratch;
use crate::gpu::{DeviceLost, Gpu, Stage};
use crate::pipeline::CompiledPipeline;
use crate::raster::RateState;
use crate::state::{ComputePipeline, DepthBias, ExtendedState, LineStipple, MAX_BINDINGS};
use crate::transfer::{self, BufferImageTransfer, CopyDirection};

/// Bytes of push constants, followed by the number of the view.
pub(super) const PUSH_BYTES: usize = PUSH_CONSTANT_BYTES + 4;
/// `maxCommandBufferNestingLevel`.
pub const MAX_NESTED: u32 = 32;
/// Maximum time that a command waits for events, or for queries that other queues end.
const WAIT_TIMEOUT: Duration = Duration::from_secs(10);

/// A bound index buffer, and the type of its indices.
#[derive(Debug, Clone)]
pub(super) struct IndexBuffer {
    pub(super) range: Option<BufferRange>,
    pub(super) index_type: vk::IndexType,
    /// The index that restarts primitives, if it is not the maximum of the index type.
    pub(super) restart: Option<u32>,
}

/// State that commands set.
#[derive(Clone)]
pub(super) struct State {
    pub(super) graphics: Option<Arc<CompiledPipeline>>,
    pub(super) compute: Option<Arc<ComputePipeline>>,
    pub(super) graphics_sets: BoundSets,
    pub(super) compute_sets: BoundSets,
    pub(super) vertex_buffers: Vec<Option<BufferRange>>,
    pub(super) index_buffer: Option<IndexBuffer>,
    pub(super) push: [u8; PUSH_BYTES],
    pub(super) dynamic: Dynamic,
    extended: ExtendedState,
    pub(super) feedback: FeedbackState,
    /// The graphics pipeline combined with the dynamic state, once a draw has used it.
    drawn: Option<Arc<CompiledPipeline>>,
    /// All viewports and scissors. The first ones are also in `dynamic`.
    pub(super) views: Views,
    /// Parts of the state that were set after the last draw.
    pub(super) changed: Changed,
}

/// Parts of the state on which the draw state depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Changed {
    /// Pipelines, dynamic state, or the pass.
    pub(super) fixed: bool,
    /// Vertex buffers.
    pub(super) buffers: bool,
}

impl Default for Changed {
    /// Returns the value before the first draw: all parts have changed.
    fn default() -> Self {
        Self { fixed: true, buffers: true }
    }
}

/// Values of dynamic state.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Dynamic {
    pub(super) viewport: vk::Viewport,
    pub(super) scissor: vk::Rect2D,
    pub(super) line_width: f32,
    pub(super) line_stipple: LineStipple,
    pub(super) depth_bias: DepthBias,
    pub(super) blend_constants: [f32; 4],
    pub(super) depth_bounds: [f32; 2],
    pub(super) rate: RateState,
    /// Compare mask, write mask and reference of the front and the back face.
    pub(super) stencil: [[u32; 3]; 2],
}

impl Default for State {
    fn default() -> Self {
        Self {
            graphics: None,
            compute: None,
            graphics_sets: BoundSets::default(),
            compute_sets: BoundSets::default(),
            vertex_buffers: Vec::new(),
            index_buffer: None,
            push: [0; PUSH_BYTES],
            dynamic: Dynamic::default(),
            extended: ExtendedState::default(),
            feedback: FeedbackState::default(),
            drawn: None,
            views: Views::default(),
            changed: Changed::default(),
        }
    }
}

impl State {
    /// Returns the pipeline that draws use.
    pub(super) fn pipeline(&mut self) -> Option<Arc<CompiledPipeline>> {
        if self.drawn.is_none() {
            self.drawn = self.graphics.as_ref().map(|pipeline| pipeline.with(&self.extended));
        }
        self.drawn.clone()
    }

    /// Sets the number of the current view that programs read.
    pub(super) fn set_view(&mut self, view: u32) {
        self.push[PUSH_CONSTANT_BYTES..].copy_from_slice(&view.to_le_bytes());
    }

    fn sets(&mut self, point: vk::PipelineBindPoint) -> &mut BoundSets {
        if point == vk::PipelineBindPoint::COMPUTE { &mut self.compute_sets } else { &mut self.graphics_sets }
    }
}

/// Executor of command lists.
pub struct Processor<'g> {
    pub(super) gpu: &'g Gpu,
    /// Time limit of the programs of the running draw or dispatch.
    pub(super) deadline: Arc<Deadline>,
    /// Unused time of commands whose work is queued.
    pub(super) times_left: TimesLeft,
    /// The running command, for messages.
    running: Running,
    pub(super) state: State,
    pub(super) pass: Option<Pass>,
    /// Draws of the pass that are queued for the tile pass.
    pub(super) pending: Pending,
    /// Draw state of the last draw, if there was one.
    pub(super) prepared: Option<Arc<draw::DrawState>>,
    /// Deferred draws of the pass.
    pub(super) waiting: Waiting,
    /// The front end.
    pub(super) front: PoolGuard<'g, Box<FrontScratch>>,
    /// Shared state of the device when execution began.
    pub(super) shared: OfDevice<'g>,
    /// Number of the subpass's views that were rendered before the current one. Each view has its
    /// own queries.
    pub(super) view_number: u32,
    /// True if draws, dispatches and clears of attachments are skipped.
    skips: bool,
    /// Nesting level of the running list.
    depth: u32,
    /// Active occlusion queries.
    pub(super) occlusion: OcclusionQueries,
    /// Active queries of pipeline statistics.
    pub(super) statistics: StatisticsQueries,
    /// Active queries of streams.
    pub(super) streams: Vec<StreamQuery>,
    /// Sampler of counters, if the GPU counts.
    sampler: Option<Sampler>,
}

impl<'g> Processor<'g> {
    /// Creates a processor with default state.
    pub fn new(gpu: &'g Gpu) -> Self {
        let deadline = Deadline::after(gpu.config().timeout);
        Self {
            gpu,
            deadline,
            times_left: TimesLeft::default(),
            running: Running::default(),
            state: State::default(),
            pass: None,
            pending: Pending::default(),
            prepared: None,
            waiting: Waiting::default(),
            front: gpu.fronts().acquire(),
            shared: OfDevice {
                routines: gpu.routines().clone(),
                addresses: gpu.addresses().now(),
                names: gpu.descriptor_resolver().clone(),
                in_use: gpu.begin_use(),
            },
            view_number: 0,
            skips: false,
            depth: 0,
            occlusion: OcclusionQueries::default(),
            statistics: StatisticsQueries::default(),
            streams: Vec::new(),
            sampler: gpu.counters().map(|counters| Sampler::new(gpu.now(), counters)),
        }
    }

    /// Returns the running command, or the command at which execution ended.
    pub fn running(&self) -> &Running {
        &self.running
    }

    /// Executes a primary list.
    pub fn execute(&mut self, list: &CommandList) -> Result<(), DeviceLost> {
        self.state = State::default();
        self.skips = false;
        self.running.list += 1;
        self.run(list)
    }

    fn run(&mut self, list: &CommandList) -> Result<(), DeviceLost> {
        let mut rest = list.commands.as_slice();
        while let Some((command, behind)) = rest.split_first() {
            self.running.begin(command, list.commands.len() - rest.len());
            self.command(command, &list.bytes).inspect_err(|_| self.running.describe(command))?;
            rest = match command {
                Command::BeginPass(_) | Command::NextSubpass => self.views(behind, &list.bytes)?,
                _ => behind,
            };
        }
        Ok(())
    }

    /// Executes a command. `bytes` is the inline data of its list.
    pub(super) fn command(&mut self, command: &Command, bytes: &[u8]) -> Result<(), DeviceLost> {
        self.deadline.begin();
        match command {
            Command::BeginPass(begin) => {
                self.use_attachments(begin);
                let mut pass = Pass::begin(begin, self.gpu.workers())?;
                self.pending = Pending::new(viewports::rect(pass.area), pass.layers);
                self.waiting.forget();
                self.begin_sample(SampleKind::Pass);
                self.pending.begin_clears(pass.take_clears());
                self.begin_subpass(pass);
            }
            Command::NextSubpass => {
                self.flush()?;
                if let Some(mut pass) = self.pass.take() {
                    self.end_depth(&pass);
                    pass.next_subpass(self.gpu.workers())?;
                    self.pending.begin_clears(pass.take_clears());
                    self.begin_subpass(pass);
                }
            }
            Command::EndPass => self.end_pass()?,
            // Conditional rendering skips these commands.
            Command::Dispatch { .. } | Command::DispatchIndirect { .. } | Command::ClearAttachments(_)
                if self.skips => {}
            draw if draw.is_draw() => {
                if self.skips {
                    return Ok(());
                }
                return draw::draw(self, command);
            }
            Command::Dispatch { base, groups } => return self.dispatch(*base, *groups),
            Command::DispatchIndirect { buffer, offset } => return self.dispatch([0; 3], words(buffer, *offset)),
            Command::Execute(lists) => return self.execute_secondary(lists),
            Command::WaitEvents(events) => {
                self.flush()?;
                if !events.iter().all(|event| event.wait(WAIT_TIMEOUT, || self.gpu.ends_waits())) {
                    return Err(DeviceLost::EventNotSet);
                }
                // The host may have written mapped memory.
                self.gpu.depths().wrote_any(|memory| memory.is_mapped());
            }
            Command::PipelineBarrier => self.flush()?,
            Command::HintImage { image, hint } => {
                self.shared.in_use.iter().for_each(|in_use| image.hint(in_use, *hint));
            }
            Command::BeginConditional { buffer, offset, inverted } => {
                self.skips = (words::<1>(buffer, *offset)[0] == 0) != *inverted;
            }
            Command::EndConditional => self.skips = false,
            Command::SetEvent(event) => event.set(),
            Command::ResetEvent(event) => event.reset(),
            Command::ClearAttachments(clear) => {
                self.flush()?;
                if let Some(pass) = &self.pass {
                    pass.clear_attachments(
                        &clear.attachments,
                        &clear.rects,
                        self.gpu.workers(),
                        |layer, area, depth| {
                            self.clear_depth(pass, layer, area, depth);
                        },
                    );
                }
                self.pending.forget_ahead();
            }
            _ if self.set_state(command, bytes) => {}
            _ if self.state.feedback.set(command) => {
                if let Command::EndFeedback { counters, .. } = command {
                    self.wrote_counters(counters);
                }
            }
            // Queries must count exactly the draws between their begin and end, so queued draws
            // are finished first.
            _ => {
                self.flush()?;
                self.use_named(command);
                if !self.query(command)? {
                    let place = (self.gpu.workers(), self.shared.in_use.as_ref());
                    transfer(place, &self.deadline, command, bytes)?;
                }
                depth::written_by(self.gpu.depths(), command);
            }
        }
        Ok(())
    }

    fn end_pass(&mut self) -> Result<(), DeviceLost> {
        // Lost aspects are cleared only in tiles that are drawn to.
        if let Some(pass) = &self.pass {
            self.pending.lose(|attachment| pass.lost(attachment));
        }
        self.drain()?;
        self.note_clears();
        self.flush()?;
        if let Some(pass) = self.pass.take() {
            self.end_depth(&pass);
            self.hint_attachments(&pass);
            pass.end(self.gpu.workers());
            self.end_sample();
        }
        Ok(())
    }

    /// Replaces the state and marks all of it as changed.
    pub(super) fn go_on_with(&mut self, state: State) {
        self.state = State { changed: Changed::default(), ..state };
    }

    /// Makes a pass current after one of its subpasses has begun.
    fn begin_subpass(&mut self, pass: Pass) {
        self.state.changed.fixed = true;
        pass.fresh_others().for_each(|view| self.gpu.depths().wrote_surface(&view.surface));
        if pass.subpass().view_mask == 0 {
            self.begin_depth(&pass);
        }
        self.pass = Some(pass);
    }

    fn dispatch(&mut self, base: [u32; 3], groups: [u32; 3]) -> Result<(), DeviceLost> {
        self.begin_sample(SampleKind::Dispatch);
        let done = dispatch::dispatch(self, base, groups);
        self.end_sample();
        done
    }

    fn execute_secondary(&mut self, lists: &[Arc<CommandList>]) -> Result<(), DeviceLost> {
        // Execution of a primary list is level 0, which does not count as nesting.
        if self.depth > MAX_NESTED {
            return Err(DeviceLost::NestedTooDeep);
        }
        self.depth += 1;
        let (kept, skips) = (std::mem::take(&mut self.state), self.skips);
        for list in lists {
            self.state = State::default();
            self.state.set_view(self.pass.as_ref().map_or(0, Pass::view_index));
            self.run(list)?;
            self.skips = skips;
        }
        self.go_on_with(kept);
        self.depth -= 1;
        Ok(())
    }

    /// Executes a command that only sets state. Returns false for all other commands.
    fn set_state(&mut self, command: &Command, bytes: &[u8]) -> bool {
        let state = &mut self.state;
        match command {
            Command::BindGraphicsPipeline(pipeline) => {
                if !state.graphics.as_ref().is_some_and(|bound| Arc::ptr_eq(bound, pipeline)) {
                    (state.graphics, state.drawn) = (Some(pipeline.clone()), None);
                    state.changed.fixed = true;
                }
            }
            Command::SetViewports { first, viewports } => {
                state.views.set_viewports(*first, viewports);
                (state.dynamic.viewport, state.dynamic.scissor) = state.views.first();
                state.changed.fixed = true;
            }
            Command::SetScissors { first, scissors } => {
                state.views.set_scissors(*first, scissors);
                (state.dynamic.viewport, state.dynamic.scissor) = state.views.first();
                state.changed.fixed = true;
            }
            Command::BindComputePipeline(pipeline) => state.compute = Some(pipeline.clone()),
            Command::BindDescriptorSets { point, first, sets, dynamic_offsets } => {
                state.sets(*point).bind(*first, sets, dynamic_offsets, &*self.shared.names);
            }
            Command::BindVertexBuffers { first, buffers } => {
                for (binding, buffer) in (*first as usize..MAX_BINDINGS).zip(buffers) {
                    if state.vertex_buffers.len() <= binding {
                        state.vertex_buffers.resize(binding + 1, None);
                    }
                    state.vertex_buffers[binding] = buffer.clone();
                }
                state.changed.buffers = true;
            }
            Command::PushDescriptors { point, set, layout, writes } => state.sets(*point).push(*set, layout, writes),
            Command::BindIndexBuffer { range, index_type } => {
                state.index_buffer = Some(IndexBuffer { range: range.clone(), index_type: *index_type, restart: None });
            }
            Command::SetRestartIndex(index) => {
                if let Some(buffer) = &mut state.index_buffer {
                    buffer.restart = Some(*index);
                }
            }
            Command::PushConstants { offset, data } => {
                let data = data.of(bytes);
                let constants = state.push.get_mut(*offset as usize..PUSH_CONSTANT_BYTES);
                if let Some(target) = constants.and_then(|rest| rest.get_mut(..data.len())) {
                    target.copy_from_slice(data);
                }
            }
            Command::SetState(value) => {
                state.extended.set(*value);
                (state.drawn, state.changed.fixed) = (None, true);
            }
            Command::SetBlend { first, values } => {
                state.extended.set_blend(*first, values);
                (state.drawn, state.changed.fixed) = (None, true);
            }
            Command::SetSampleLocations(locations) => {
                state.extended.set_locations(**locations);
                state.drawn = None;
            }
            Command::SetVertexInput(input) => {
                state.extended.set_input(input);
                (state.drawn, state.changed.fixed) = (None, true);
            }
            Command::SetVertexStrides { first, strides } => {
                state.extended.set_strides(*first, strides);
                (state.drawn, state.changed.fixed) = (None, true);
            }
            _ => {
                let is_dynamic = state.dynamic.set(command);
                state.changed.fixed |= is_dynamic;
                return is_dynamic;
            }
        }
        true
    }

    /// Returns the counters of the active query, or of the submission. When a query ends, its
    /// counts are added to the counters of the submission.
    pub(super) fn counters(&self) -> Option<&Arc<Counters>> {
        self.of_query().or(self.sampler.as_ref().map(|sampler| &sampler.counters))
    }

    fn of_query(&self) -> Option<&Arc<Counters>> {
        self.statistics.counters()
    }

    fn begin_sample(&mut self, kind: SampleKind) {
        let query = self.of_query().cloned();
        if let Some(sampler) = &mut self.sampler {
            sampler.begin(kind, self.gpu.now(), query.as_deref());
        }
    }

    fn end_sample(&mut self) {
        let query = self.of_query().cloned();
        if let Some(sampler) = &mut self.sampler {
            sampler.end(self.gpu.now(), query.as_deref());
        }
    }

    /// Begins a draw's sample and returns its number, if the GPU counts.
    pub(super) fn begin_draw_sample(&mut self) -> Option<usize> {
        let query = self.statistics.counters().map(|counters| &**counters);
        self.sampler.as_mut().and_then(|sampler| sampler.begin_draw(query))
    }

    /// Assigns the counts of the front end since the last call to a draw, or to no draw.
    pub(super) fn add_to_sample(&mut self, draw: Option<usize>) {
        let query = self.statistics.counters().map(|counters| &**counters);
        match (&mut self.sampler, draw) {
            (Some(sampler), Some(draw)) => sampler.add_to_draw(draw, query),
            (Some(sampler), None) => drop(sampler.front_grown(query)),
            (None, _) => {}
        }
    }

    /// Ends the submission and adds its counts to the counters of the GPU.
    ///
    /// # Errors
    /// [`DeviceLost`] when a compacted image could not be restored.
    pub fn finish(&mut self) -> Result<(), DeviceLost> {
        self.statistics = StatisticsQueries::default();
        let in_use = self.shared.in_use.as_ref();
        if let (Some(sampler), Some(all)) = (self.sampler.take(), self.gpu.counters()) {
            sampler.counters.count(Counter::SpansRestored, in_use.map_or(0, InUse::restored));
            sampler.finish(self.gpu.now(), all);
        }
        if in_use.is_some_and(InUse::has_failed) { Err(DeviceLost::OutOfMemory) } else { Ok(()) }
    }

    fn end_statistics(&mut self, (pool, query): (&Arc<QueryPool>, u32)) {
        let Some(counters) = self.statistics.end(pool, query) else { return };
        if let Some(sampler) = &self.sampler {
            sampler.counters.add(&counters);
        }
    }

    fn query(&mut self, command: &Command) -> Result<bool, DeviceLost> {
        match command {
            Command::BeginQuery { pool, query, stream, .. } => {
                let (pool, query) = (pool.clone(), query.saturating_add(self.view_number));
                match pool.kind() {
                    QueryKind::Stream | QueryKind::Generated | QueryKind::MeshPrimitives => {
                        self.begin_stream((pool, query), *stream)
                    }
                    QueryKind::Statistics(_) => {
                        let sampled = self.sampler.as_ref().map(|sampler| sampler.counters.of_part());
                        self.statistics.begin((pool, query), || sampled.unwrap_or_else(Counters::without_maps));
                    }
                    _ => self.occlusion.begin(pool, query),
                }
            }
            Command::EndQuery { pool, query, stream } => match pool.kind() {
                QueryKind::Stream | QueryKind::Generated | QueryKind::MeshPrimitives => {
                    self.end_stream((pool, *query), *stream)
                }
                QueryKind::Statistics(_) => self.end_statistics((pool, query.saturating_add(self.view_number))),
                _ => self.occlusion.end(pool, query.saturating_add(self.view_number)),
            },
            Command::ResetQueryPool { pool, first, count } => pool.reset(*first, *count),
            Command::WriteTimestamp { pool, query } => {
                pool.write(query.saturating_add(self.view_number), &[self.gpu.now()])
            }
            Command::CopyQueryPoolResults { pool, first, count, target, offset, stride, flags } => {
                let until = Instant::now() + WAIT_TIMEOUT;
                // Earlier submissions to this queue are complete, so only other queues may still
                // end a query.
                let give_up = || self.gpu.is_alone() || self.gpu.ends_waits() || Instant::now() >= until;
                for (index, query) in (*first..pool.count()).take(*count as usize).enumerate() {
                    let result = pool.result(query, *flags, give_up);
                    if !result.available && flags.contains(vk::QueryResultFlags::WAIT) {
                        log::warn!(target: "vitric", "results of query {query} are copied, which nothing has ended: there are none");
                    }
                    target.write(offset + index as u64 * stride + result.at as u64, &result.bytes);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Dynamic {
    /// Returns true if fragments see equal state. State that only set-up uses is not compared.
    pub(super) fn is_same_for_fragments(&self, other: &Self) -> bool {
        let viewport = |of: &Self| (of.viewport.x, of.viewport.y, of.viewport.width, of.viewport.height);
        let state = |of: &Self| (viewport(of), of.scissor, of.blend_constants, of.depth_bounds, of.stencil, of.rate);
        state(self) == state(other)
    }

    fn set(&mut self, command: &Command) -> bool {
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

/// Returns `N` 32-bit words of a buffer. Words outside the buffer are 0.
pub(super) fn words<const N: usize>(buffer: &Buffer, offset: u64) -> [u32; N] {
    std::array::from_fn(|index| {
        let mut bytes = [0; 4];
        buffer.read(offset + 4 * index as u64, &mut bytes);
        u32::from_le_bytes(bytes)
    })
}

/// Executes a transfer command, one region after the other.
fn transfer(
    (workers, in_use): (&Workers, Option<&InUse<'_>>),
    deadline: &Deadline,
    command: &Command,
    bytes: &[u8],
) -> Result<(), DeviceLost> {
    match command {
        Command::CopyBuffer { source, target, regions } => {
            for_each_region(deadline, regions, |region| transfer::copy_buffer(source, target, region))?;
        }
        Command::CopyImage { source, target, regions } => {
            for_each_region(deadline, regions, |region| {
                transfer::copy_image(workers, in_use, (source, target), region)
            })?;
        }
        Command::BlitImage { source, target, regions, filter } => {
            for_each_region(deadline, regions, |region| transfer::blit(workers, (source, target), region, *filter))?;
        }
        Command::CopyBufferToImage { source, target, regions } => {
            let direction = CopyDirection::ToImage;
            let copy = BufferImageTransfer { buffer: source, image: target, direction };
            for_each_region(deadline, regions, |region| transfer::copy_buffer_image(workers, in_use, copy, region))?;
        }
        Command::CopyImageToBuffer { source, target, regions } => {
            let direction = CopyDirection::ToBuffer;
            let copy = BufferImageTransfer { buffer: target, image: source, direction };
            for_each_region(deadline, regions, |region| transfer::copy_buffer_image(workers, in_use, copy, region))?;
        }
        Command::UpdateBuffer { target, offset, data } => target.write(*offset, data.of(bytes)),
        Command::FillBuffer { target, offset, size, word } => transfer::fill_buffer(target, *offset, *size, *word),
        Command::ClearColorImage { target, value, ranges }
        | Command::ClearDepthStencilImage { target, value, ranges } => {
            for_each_region(deadline, ranges, |range| transfer::clear_image(in_use, target, *value, range))?;
        }
        Command::ResolveImage { source, target, regions } => {
            for_each_region(deadline, regions, |region| transfer::resolve(workers, (source, target), region))?;
        }
        _ => {}
    }
    Ok(())
}

/// Maximum number of regions transferred as one batch, and the duration of a batch above which the
/// next regions are transferred one by one.
const MAX_REGIONS: usize = 64;
const LONG_TRANSFER: Duration = Duration::from_millis(1);

/// Calls `work` with all regions in batches until the command's time is up. A time check between
/// batches is needed because the number and the size of regions are only limited by memory.
fn for_each_region<R>(deadline: &Deadline, mut regions: &[R], mut work: impl FnMut(&[R])) -> Result<(), DeviceLost> {
    let mut at_once = 1;
    while let Some((some, rest)) =
        regions.split_at_checked(at_once.min(regions.len())).filter(|(some, _)| !some.is_empty())
    {
        let begin = Instant::now();
        work(some);
        regions = rest;
        if !rest.is_empty() && deadline.expired() {
            return Err(DeviceLost::TimedOut(Stage::Transfer));
        }
        at_once = if begin.elapsed() < LONG_TRANSFER { MAX_REGIONS.min(2 * at_once) } else { 1 };
    }
    Ok(())
}
