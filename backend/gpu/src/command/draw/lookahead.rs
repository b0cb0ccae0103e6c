//! Look-ahead: the cull pipe runs for deferred draws, so that late draws can hide early ones.
//!
//! Draws of one *segment* are deferred here. Each of them is opaque in the same attachments,
//! compares depth in one direction, writes depth, and has no other effect. Primitives that a later
//! draw hides can therefore be omitted (DESIGN 3.2, "look-ahead safety").
//!
//! When another command comes, or enough draws are deferred, the cull pipe computes positions of
//! all draws in chunks, on all threads. It stores the extents of blocks of primitives. Large
//! primitives update the visibility structure. Blocks that the structure hides are then omitted,
//! and the draws are replayed in order with the remaining blocks. Source: DESIGN 3.3.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use vitric_base::counters::{Counter, Counters};
use vitric_exec::bindings::Bindings;
use vitric_exec::interp::{Deadline, Environment};

use super::super::context::PassContext;
use super::super::dynamic::DynamicValues;
use super::super::pixel_state::PixelState;
use super::super::state::{IndexBuffer, PUSH_BYTES};
use super::super::viewports::fragment_area;
use super::front_end::{DrawJob, FrontEndContext};
use super::params::DrawParams;
use super::state::DrawState;
use super::windows::{self, AssembledDraw};
use crate::geometry::{
    Assembled, BLOCK, ChunkBounds, Extent, FrontScratch, InstanceRange, LookaheadChunk, MIN_POSH_PRIMITIVES, Posh,
    VisibleBlocks,
};
use crate::gpu::{DeviceLost, Gpu, PipelineStage};
use crate::hiz::{DepthFormat, EarlyBounds, Hierarchy, OcclusionTest, UpdateRules, apply_updates};
use crate::pipeline::CompiledPipeline;
use crate::pixel::{PixelContext, Segment};
use crate::raster::Grid;
use crate::state::{is_list, vertices};

/// Maximum number of deferred draws.
const MAX_DRAWS: usize = 1 << 12;

/// Maximum number of vertices of a deferred strip or fan, which is assembled in memory.
const MAX_ASSEMBLED_VERTICES: u32 = 1 << 14;

/// The look-ahead samples one of this number of chunks to decide if the other chunks are
/// worthwhile.
const SAMPLING_INTERVAL: usize = 8;

/// Maximum number of primitives of draws whose chunks are all sampled. A wall has few primitives.
const MAX_SAMPLED_PRIMITIVES: usize = 2 * BLOCK;

/// The look-ahead continues if at least one of this number of primitives inside the view volume is
/// hidden. Primitives outside do not count, because they are also culled without the look-ahead.
const MAX_INSIDE_PER_HIDDEN: usize = 8;

/// Extents of blocks are computed if they cull at least one of this number of primitives. Drawing
/// costs far more than computing the extent of a block.
const MAX_TESTED_PER_CULLED: usize = 32;

/// A deferred draw.
struct DeferredDraw {
    state: Arc<DrawState>,
    pixel_pipeline: Arc<CompiledPipeline>,
    vertex_bindings: Arc<Bindings>,
    fragment_bindings: Option<Arc<Bindings>>,
    push: [u8; PUSH_BYTES],
    dynamic: DynamicValues,
    index_buffer: Option<IndexBuffer>,
    params: DrawParams,
}

/// Deferred draws, all of one segment.
#[derive(Default)]
pub(super) struct DeferredDraws {
    draws: Vec<DeferredDraw>,
    segment: Option<Segment>,
    /// Number of primitives of all draws.
    primitives: usize,
    /// Hi-Z bounds that hide primitives; kept to reuse the memory.
    early: EarlyBounds,
}

impl DeferredDraw {
    fn new(job: &DrawJob<'_>) -> Self {
        Self {
            state: job.state.clone(),
            pixel_pipeline: job.pixel_pipeline.clone(),
            vertex_bindings: job.vertex_bindings.clone(),
            fragment_bindings: job.fragment_bindings.cloned(),
            push: *job.push,
            dynamic: *job.dynamic,
            index_buffer: job.index_buffer.cloned(),
            params: *job.params,
        }
    }

    fn job(&self) -> DrawJob<'_> {
        DrawJob {
            state: &self.state,
            pixel_pipeline: &self.pixel_pipeline,
            vertex_bindings: &self.vertex_bindings,
            fragment_bindings: self.fragment_bindings.as_ref(),
            push: &self.push,
            dynamic: &self.dynamic,
            index_buffer: self.index_buffer.as_ref(),
            params: &self.params,
        }
    }

    /// Returns the pixels that the draw's fragments may change.
    fn fragment_area(&self) -> [i64; 4] {
        fragment_area(self.dynamic.first_viewport, &self.state.pipeline)
    }
}

/// A chunk of a deferred draw.
struct Chunk {
    draw: usize,
    range: InstanceRange,
    /// Number of the chunk's first block among the blocks of all draws.
    block: usize,
}

/// Counts of primitives that need not be drawn.
#[derive(Debug, Clone, Copy, Default)]
struct CullCounts {
    outside: usize,
    hidden: usize,
    /// Primitives outside or hidden that only the extents of blocks reveal.
    by_blocks: usize,
    all: usize,
}

impl DeferredDraws {
    /// Discards all deferred draws.
    pub(super) fn clear(&mut self) {
        self.draws.clear();
        self.primitives = 0;
    }

    /// Returns true if no draw is deferred.
    pub(super) fn is_empty(&self) -> bool {
        self.draws.is_empty()
    }

    /// Returns true if a draw may be deferred and deferral is expected to pay.
    pub(super) fn can_defer(&self, context: &PassContext<'_>, job: &DrawJob<'_>) -> bool {
        let config = context.gpu.config();
        if config.posh == Posh::Off || config.lookahead == 0 {
            return false;
        }
        let is_small = job.params.primitives() < MIN_POSH_PRIMITIVES;
        let obstacle = if is_small && self.draws.is_empty() && config.posh == Posh::Auto {
            Some(Counter::PoshNotDeferredFew)
        } else {
            self.obstacle(context, job)
        };
        if let (Some(counters), Some(obstacle)) = (context.queries.counters(), obstacle) {
            counters.count(obstacle, 1);
        }
        obstacle.is_none()
    }

    /// Returns the counter of the reason for which a draw is not deferred, if there is one.
    fn obstacle(&self, context: &PassContext<'_>, job: &DrawJob<'_>) -> Option<Counter> {
        let (config, pipeline, primitives) = (context.gpu.config(), &job.state.pipeline, job.params.primitives());
        // Primitives that a query counts must be drawn.
        if context.queries.occlusion.counter().is_some() || context.counts_vertices() {
            return Some(Counter::PoshNotDeferredOrder);
        }
        let is_in_memory = !is_list(pipeline.topology, vertices(pipeline.topology)) || pipeline.primitive_restart;
        if primitives > config.lookahead || is_in_memory && job.params.count > MAX_ASSEMBLED_VERTICES {
            return Some(Counter::PoshNotDeferredKind);
        }
        let segment = match job.state.segment.get_or_init(|| segment(context, job)) {
            Ok(segment) => *segment,
            Err(obstacle) => return Some(*obstacle),
        };
        let continues_segment = !self.draws.is_empty() && self.segment == Some(segment);
        if continues_segment || config.posh == Posh::Always {
            return None;
        }
        if primitives < MIN_POSH_PRIMITIVES {
            return Some(Counter::PoshNotDeferredFew);
        }
        let is_paused = pipeline.vertex_kernel.positions(pipeline).heuristic.skips_deferral(primitives);
        is_paused.then_some(Counter::PoshNotDeferredPaused)
    }

    /// Defers a draw for which [`Self::can_defer`] returned true.
    ///
    /// # Errors
    /// [`DeviceLost`] when a program of an earlier deferred draw was interrupted.
    pub(super) fn defer(&mut self, context: &mut PassContext<'_>, job: &DrawJob<'_>) -> Result<(), DeviceLost> {
        let segment = job.state.segment.get().and_then(|segment| segment.ok());
        let (primitives, max_primitives) = (job.params.primitives(), context.gpu.config().lookahead);
        let is_full = self.primitives + primitives > max_primitives || self.draws.len() >= MAX_DRAWS;
        if is_full || self.segment != segment {
            self.replay(context)?;
        }
        self.segment = segment;
        self.primitives += primitives;
        self.draws.push(DeferredDraw::new(job));
        Ok(())
    }

    /// Replays all deferred draws and adds their primitives to windows.
    ///
    /// # Errors
    /// [`DeviceLost`] when a program was interrupted.
    pub(super) fn replay(&mut self, context: &mut PassContext<'_>) -> Result<(), DeviceLost> {
        if self.draws.is_empty() {
            return Ok(());
        }
        let Self { mut draws, segment, mut early, .. } = std::mem::take(self);
        let suspended = context.queued_time.begin_deferred(context.deadline);
        let done = match segment {
            Some(segment) => replay(context, &draws, segment, &mut early),
            None => Ok(()),
        };
        context.queued_time.end_deferred(context.deadline, &suspended);
        draws.clear();
        *self = Self { draws, early, ..Self::default() };
        done
    }
}

/// Returns the segment of draws with a draw's state.
///
/// # Errors
/// The counter of the reason for which the draws cannot be deferred.
fn segment(context: &PassContext<'_>, job: &DrawJob<'_>) -> Result<Segment, Counter> {
    let pipeline = &job.state.pipeline;
    let primitives = job.state.contexts.first().ok_or(Counter::PoshNotDeferredKind)?;
    let is_merged = pipeline.merged_kernel.get(pipeline).is_some();
    let is_plain = pipeline.corners() == 3 && primitives.fills_as_placed() && !pipeline.has_side_effects();
    if is_merged || pipeline.patches.is_some() || !is_plain || pipeline.reads_attachments {
        return Err(Counter::PoshNotDeferredKind);
    }
    if !primitives.depths_within_corners {
        return Err(Counter::PoshNotDeferredDepth);
    }
    if context.pass.layers != 1 || context.pending.depth(0).is_none() {
        return Err(Counter::PoshNotDeferredOrder);
    }
    let state = PixelState::of(job.dynamic, pipeline);
    let pixels: PixelContext<'_> = state.context(context.pass, context.deadline, None).with_segment();
    pixels.segment.ok_or(Counter::PoshNotDeferredOrder)
}

/// Runs the cull pipe for deferred draws of a segment, and adds their remaining primitives to
/// windows. `early` is memory for Hi-Z bounds.
fn replay(
    context: &mut PassContext<'_>,
    deferred: &[DeferredDraw],
    (_, direction): Segment,
    early: &mut EarlyBounds,
) -> Result<(), DeviceLost> {
    let (gpu, deadline, counters) = (context.gpu, context.deadline, context.queries.counters().cloned());
    let front_end =
        FrontEndContext { gpu, layers: 1, counters: counters.as_deref(), is_capturing: false, captures: None };
    let environments: Vec<Environment<'_>> = deferred.iter().map(|draw| draw.job().environment(deadline)).collect();
    let mut draws = Vec::with_capacity(deferred.len());
    let mut samples = Vec::with_capacity(deferred.len());
    for (draw, environment) in deferred.iter().zip(&environments) {
        let sample = context.queries.begin_draw_sample();
        if let Some(mut assembled) = draw.job().assemble(environment, front_end) {
            let pipeline = &draw.state.pipeline;
            assembled.posh = Some((gpu.config().posh, pipeline.vertex_kernel.positions(pipeline)));
            draws.push((draw, assembled));
            samples.push(sample);
        }
        context.queries.add_to_sample(sample);
    }
    context.pending.copy_early_bounds(direction, early);
    let (grid, depth_bits) = (*context.pending.grid(), context.pending.depth_bits());
    let extent = context.pending.depth(0).map_or([0; 2], Hierarchy::extent);
    let depths = Depths { grid: &grid, depth_bits, extent };
    let visible = Lookahead::new(&draws, depths).run(front_end, deadline, early)?;
    if let Some(counters) = front_end.counters {
        counters.count(Counter::PoshDeferredDraws, draws.len() as u64);
    }
    // The cull pipe ran for all draws together, so its counts belong to no draw.
    context.queries.add_to_sample(None);
    let mut first = 0;
    for ((draw, assembled), sample) in draws.iter_mut().zip(samples) {
        let blocks = first..first + assembled.blocks();
        first = blocks.end;
        if let Some(blocks) = visible.as_ref().map(|visible| &visible[blocks]) {
            if !blocks.contains(&true) {
                continue;
            }
            assembled.visible = depths.hiding(early, draw, assembled).map(|hiding| VisibleBlocks { blocks, hiding });
        }
        if !gpu.config().posh.takes_draw(assembled.count()) {
            assembled.posh = None;
        }
        context.pending.begin_command();
        windows::add(context, AssembledDraw { fragments: &draw.job().fragments(), assembled })?;
        context.queries.add_to_sample(sample);
    }
    Ok(())
}

/// The depth attachment that draws are tested against.
#[derive(Clone, Copy)]
struct Depths<'a> {
    grid: &'a Grid,
    depth_bits: u32,
    /// Extent of the image in pixels.
    extent: [i64; 2],
}

impl<'a> Depths<'a> {
    /// Returns the bounds that may hide a draw's primitives.
    fn hiding(
        self,
        early: &'a EarlyBounds,
        draw: &DeferredDraw,
        assembled: &Assembled<'_>,
    ) -> Option<OcclusionTest<'a>> {
        OcclusionTest::new(early, self.grid, draw.fragment_area(), (self.depth_bits, assembled.depth_range()))
    }
}

/// One run of the cull pipe over the deferred draws.
struct Lookahead<'a, 'd> {
    draws: &'a [(&'d DeferredDraw, Assembled<'d>)],
    depths: Depths<'a>,
    chunks: Vec<Chunk>,
    /// Extents of the chunks, once computed.
    extents: Vec<OnceLock<ChunkBounds>>,
    /// Number of blocks of all draws.
    blocks: usize,
}

impl<'a, 'd> Lookahead<'a, 'd> {
    fn new(draws: &'a [(&'d DeferredDraw, Assembled<'d>)], depths: Depths<'a>) -> Self {
        let (mut chunks, mut blocks) = (Vec::new(), 0);
        for (number, (_, draw)) in draws.iter().enumerate() {
            let draw_chunks = draw.lookahead_chunks().map(|LookaheadChunk { range, first_block }| Chunk {
                draw: number,
                range,
                block: blocks + first_block,
            });
            chunks.extend(draw_chunks);
            blocks += draw.blocks();
        }
        let extents = chunks.iter().map(|_| OnceLock::new()).collect();
        Self { draws, depths, chunks, extents, blocks }
    }

    /// Returns for each block of all draws whether it may be visible; `None` if the look-ahead
    /// does not pay.
    ///
    /// # Errors
    /// [`DeviceLost`] when a program was interrupted.
    fn run(
        &self,
        context: FrontEndContext<'_>,
        deadline: &Deadline,
        early: &mut EarlyBounds,
    ) -> Result<Option<Vec<bool>>, DeviceLost> {
        let (gpu, mut updated, mut with_blocks) = (context.gpu, 0, true);
        if gpu.config().posh == Posh::Auto {
            let sample: Vec<usize> = (0..self.chunks.len()).filter(|&number| self.is_sample(number)).collect();
            self.compute_extents(gpu, deadline, &sample, true)?;
            updated += self.update_hiz(early, &sample);
            let large = sample.into_iter().filter(|&number| self.draw(number).1.count() >= MIN_POSH_PRIMITIVES);
            let counts = self.count_culled(early, large, &mut |_| {});
            if !counts.is_worth_it() {
                let total = self.draws.iter().map(|(_, draw)| draw.count()).sum();
                let kernels = self.draws.iter().filter_map(|(_, draw)| draw.posh);
                kernels.for_each(|(_, kernel)| kernel.heuristic.pause_deferral(total));
                return Ok(None);
            }
            with_blocks = counts.needs_blocks();
        }
        let is_unknown = |number: &usize| self.extents[*number].get().is_none();
        let remaining: Vec<usize> = (0..self.chunks.len()).filter(is_unknown).collect();
        self.compute_extents(gpu, deadline, &remaining, with_blocks)?;
        updated += self.update_hiz(early, &remaining);
        let mut visible = vec![true; self.blocks];
        let counts = self.count_culled(early, 0..self.chunks.len(), &mut |block| visible[block] = false);
        if let Some(counters) = context.counters {
            self.count(counters, counts, updated);
        }
        Ok(Some(visible))
    }

    /// Returns the draw of a chunk.
    fn draw(&self, number: usize) -> &'a (&'d DeferredDraw, Assembled<'d>) {
        &self.draws[self.chunks[number].draw]
    }

    /// Returns true if a chunk belongs to the sample that represents all chunks.
    fn is_sample(&self, number: usize) -> bool {
        number.is_multiple_of(SAMPLING_INTERVAL) || self.draw(number).1.count() <= MAX_SAMPLED_PRIMITIVES
    }

    /// Computes the extents of chunks on all threads, and with `with_blocks` also those of their
    /// blocks.
    ///
    /// # Errors
    /// [`DeviceLost`] when a program was interrupted.
    fn compute_extents(
        &self,
        gpu: &Gpu,
        deadline: &Deadline,
        numbers: &[usize],
        with_blocks: bool,
    ) -> Result<(), DeviceLost> {
        let ok = AtomicBool::new(true);
        let work = |scratch: &mut FrontScratch, number: usize| {
            if !ok.load(Ordering::Relaxed) {
                return;
            }
            let chunk = &self.chunks[number];
            let extents = self.draw(number).1.bound_chunk(scratch, chunk.range.clone(), with_blocks);
            match extents {
                Ok(extents) if !deadline.expired() => drop(self.extents[number].set(extents.unwrap_or_default())),
                _ => ok.store(false, Ordering::Relaxed),
            }
        };
        let fronts = || {
            let mut front = gpu.fronts().acquire();
            front.look_ahead();
            front
        };
        gpu.workers().parallel(numbers.len(), fronts, |scratch, index| work(scratch, numbers[index]));
        if ok.into_inner() { Ok(()) } else { Err(DeviceLost::TimedOut(PipelineStage::Vertex)) }
    }

    /// Updates the Hi-Z bounds with large primitives of chunks. Returns the number of these
    /// primitives.
    fn update_hiz(&self, early: &mut EarlyBounds, numbers: &[usize]) -> usize {
        let mut updated = 0;
        for &number in numbers {
            let updates = self.extents[number].get().map_or(&[][..], |extents| &extents.updates);
            if updates.is_empty() {
                continue;
            }
            let draw = self.draw(number).0;
            let multisample = &draw.state.pipeline.multisample;
            let update_rules = UpdateRules {
                visibility: draw.state.visibility,
                scissor: draw.fragment_area(),
                format: DepthFormat { bits: self.depths.depth_bits, samples: multisample.samples },
                extent: self.depths.extent,
            };
            apply_updates(early, updates, self.depths.grid, (&update_rules, &multisample.locations()));
            updated += updates.len();
        }
        updated
    }

    /// Tests chunks against the Hi-Z bounds and calls `hide` for each block that need not be
    /// drawn.
    fn count_culled(
        &self,
        early: &EarlyBounds,
        numbers: impl Iterator<Item = usize>,
        hide: &mut impl FnMut(usize),
    ) -> CullCounts {
        numbers.fold(CullCounts::default(), |counts, number| {
            let (draw, assembled) = self.draw(number);
            match self.depths.hiding(early, draw, assembled) {
                Some(hiding) => counts.with(&self.chunks[number], self.extents[number].get(), &hiding, hide),
                None => counts,
            }
        })
    }

    fn count(&self, counters: &Counters, culled: CullCounts, updated: usize) {
        let count = |counter, number: usize| counters.count(counter, number as u64);
        let known = self.extents.iter().filter_map(OnceLock::get);
        count(Counter::PoshLookaheadChunks, self.chunks.len());
        count(Counter::PoshLookaheadBytes, size_of_val(&*self.extents) + self.blocks);
        count(Counter::PoshHizUpdates, updated);
        count(Counter::PoshVertices, known.map(|extents| extents.vertices).sum());
        count(Counter::PoshVolumeKills, culled.outside);
        count(Counter::PoshHiddenKills, culled.hidden);
        count(Counter::ClipInputs, culled.outside + culled.hidden);
        count(Counter::ClipOutputs, culled.hidden);
    }
}

/// The result of testing primitives.
#[derive(Clone, Copy)]
enum CullResult {
    Outside,
    Hidden,
    Visible,
}

/// Tests the extent of primitives.
fn test(extent: &Extent, hiding: &OcclusionTest<'_>) -> CullResult {
    match extent {
        Extent::Outside => CullResult::Outside,
        Extent::Anywhere => CullResult::Visible,
        Extent::Within(pixels, depths) => match hiding.touchable(pixels.map(i64::from)) {
            None => CullResult::Outside,
            Some(pixels) if hiding.hides(pixels, *depths) => CullResult::Hidden,
            Some(_) => CullResult::Visible,
        },
    }
}

impl CullCounts {
    /// Returns true if enough primitives are hidden to continue the look-ahead.
    fn is_worth_it(self) -> bool {
        self.hidden > 0 && self.hidden * MAX_INSIDE_PER_HIDDEN >= self.all - self.outside
    }

    /// Returns true if enough primitives are culled by blocks to compute the extents of blocks.
    fn needs_blocks(self) -> bool {
        self.by_blocks * MAX_TESTED_PER_CULLED >= self.all
    }

    /// Adds a chunk to the counts, and calls `hide` for each block that need not be drawn.
    fn with(
        mut self,
        chunk: &Chunk,
        extents: Option<&ChunkBounds>,
        hiding: &OcclusionTest<'_>,
        hide: &mut impl FnMut(usize),
    ) -> Self {
        let range = &chunk.range.primitives;
        self.all += range.len();
        let Some(extents) = extents else { return self };
        let whole = test(&extents.whole, hiding);
        for (number, start) in (0..).zip(range.clone().step_by(BLOCK)) {
            let count = BLOCK.min(range.end - start);
            let is_open = matches!(whole, CullResult::Visible);
            match if is_open { test(extents.blocks.get(number).unwrap_or(&Extent::Anywhere), hiding) } else { whole } {
                CullResult::Outside => self.outside += count,
                CullResult::Hidden => self.hidden += count,
                CullResult::Visible => continue,
            }
            self.by_blocks += if is_open { count } else { 0 };
            hide(chunk.block + number);
        }
        self
    }
}
