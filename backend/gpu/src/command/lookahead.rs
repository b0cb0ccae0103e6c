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

use super::draw::{DrawParams, DrawState, FrontEndContext, Job, pixel_context, windows};
use super::pending::PixelState;
use super::processor::{Dynamic, IndexBuffer, PUSH_BYTES, Processor};
use super::viewports::touched;
use crate::geometry::{
    Assembled, BLOCK, ChunkBounds, Extent, FrontScratch, InstanceRange, LookaheadChunk, MIN_POSH_PRIMITIVES, Posh,
    VisibleBlocks,
};
use crate::gpu::{DeviceLost, Gpu, Stage};
use crate::hiz::{DepthFormat, EarlyBounds, Hierarchy};
use crate::hiz::{OcclusionTest, UpdateRules, apply_updates};
use crate::pipeline::CompiledPipeline;
use crate::pixel::{PixelContext, Segment};
use crate::raster::Grid;
use crate::state::{is_list, vertices};

/// Maximum number of deferred draws.
const MAX_DRAWS: usize = 1 << 12;

/// Maximum number of vertices of a deferred strip or fan, which is assembled in memory.
const MAX_ASSEMBLED: u32 = 1 << 14;

/// The look-ahead samples one of `SAMPLED` chunks to decide if the other chunks are worthwhile.
/// Draws of at most `SMALL` primitives are always sampled: a wall has few primitives.
const SAMPLED: usize = 8;
const SMALL: usize = 2 * BLOCK;

/// The look-ahead continues if at least one of `WORTH` primitives inside the view volume is
/// hidden. Primitives outside do not count, because they are also culled without the look-ahead.
const WORTH: usize = 8;

/// Extents of blocks are computed if they cull at least one of `BLOCKS_WORTH` primitives. Drawing
/// costs far more than computing the extent of a block.
const BLOCKS_WORTH: usize = 32;

/// A deferred draw.
struct DeferredDraw {
    prepared: Arc<DrawState>,
    of_pixels: Arc<CompiledPipeline>,
    of_vertex: Arc<Bindings>,
    of_fragment: Option<Arc<Bindings>>,
    push: [u8; PUSH_BYTES],
    dynamic: Dynamic,
    index_buffer: Option<IndexBuffer>,
    call: DrawParams,
}

/// Deferred draws, all of one segment.
#[derive(Default)]
pub(super) struct Waiting {
    draws: Vec<DeferredDraw>,
    segment: Option<Segment>,
    /// Number of primitives of all draws.
    primitives: usize,
    /// Hi-Z bounds that hide primitives; kept to reuse the memory.
    early: EarlyBounds,
}

impl Waiting {
    /// Discards all deferred draws.
    pub(super) fn forget(&mut self) {
        self.draws.clear();
        self.primitives = 0;
    }
}

impl DeferredDraw {
    fn job(&self) -> Job<'_> {
        Job {
            prepared: &self.prepared,
            of_pixels: &self.of_pixels,
            of_vertex: &self.of_vertex,
            of_fragment: self.of_fragment.as_ref(),
            push: &self.push,
            dynamic: &self.dynamic,
            index_buffer: self.index_buffer.as_ref(),
            call: &self.call,
        }
    }

    /// Returns the pixels that the draw may touch.
    fn scissor(&self) -> [i64; 4] {
        touched(&self.dynamic, &self.prepared.pipeline)
    }
}

/// Returns the approximate number of primitives of a draw.
fn primitives(call: &DrawParams) -> usize {
    (call.count as usize / 3).saturating_mul(call.instances as usize)
}

/// A chunk of a deferred draw.
struct Piece {
    draw: usize,
    range: InstanceRange,
    /// Number of the chunk's first block among the blocks of all draws.
    block: usize,
}

/// Counts of primitives that need not be drawn.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    outside: usize,
    hidden: usize,
    /// Primitives outside or hidden that only the extents of blocks reveal.
    by_blocks: usize,
    all: usize,
}

impl Processor<'_> {
    /// Returns true if any draw is deferred.
    pub(super) fn has_draws_waiting(&self) -> bool {
        !self.waiting.draws.is_empty()
    }

    /// Returns true if a draw may be deferred and deferral is expected to pay.
    pub(super) fn lets_wait(&self, prepared: &DrawState, call: &DrawParams) -> bool {
        let (config, waiting, primitives) = (self.gpu.config(), &self.waiting, primitives(call));
        if config.posh == Posh::Off || config.lookahead == 0 {
            return false;
        }
        let reason = if primitives < MIN_POSH_PRIMITIVES && waiting.draws.is_empty() && config.posh == Posh::Auto {
            Some(Counter::PoshNotDeferredFew)
        } else {
            self.why_not(prepared, call, primitives)
        };
        if let (Some(counters), Some(reason)) = (self.counters(), reason) {
            counters.count(reason, 1);
        }
        reason.is_none()
    }

    fn why_not(&self, prepared: &DrawState, call: &DrawParams, primitives: usize) -> Option<Counter> {
        let (config, pipeline) = (self.gpu.config(), &prepared.pipeline);
        // Primitives that a query counts must be drawn.
        if self.occlusion.counter().is_some() || self.counts_vertices() {
            return Some(Counter::PoshNotDeferredOrder);
        }
        let is_in_memory = !is_list(pipeline.topology, vertices(pipeline.topology)) || pipeline.primitive_restart;
        if primitives > config.lookahead || is_in_memory && call.count > MAX_ASSEMBLED {
            return Some(Counter::PoshNotDeferredKind);
        }
        let segment = match prepared.waits.get_or_init(|| self.segment(prepared)) {
            Ok(segment) => *segment,
            Err(reason) => return Some(*reason),
        };
        let goes_on = !self.waiting.draws.is_empty() && self.waiting.segment == Some(segment);
        if goes_on || config.posh == Posh::Always {
            return None;
        }
        if primitives < MIN_POSH_PRIMITIVES {
            return Some(Counter::PoshNotDeferredFew);
        }
        let rests = pipeline.vertex_kernel.positions(pipeline).heuristic.skips_deferral(primitives);
        rests.then_some(Counter::PoshNotDeferredPaused)
    }

    /// Returns the segment of draws with a state.
    ///
    /// # Errors
    /// The counter of the reason for which the draws cannot be deferred.
    fn segment(&self, prepared: &DrawState) -> Result<Segment, Counter> {
        let (pipeline, pass) = (&prepared.pipeline, self.pass.as_ref().ok_or(Counter::PoshNotDeferredKind)?);
        let context = prepared.contexts.first().ok_or(Counter::PoshNotDeferredKind)?;
        let is_merged = pipeline.merged_kernel.get(pipeline).is_some();
        let is_plain = pipeline.corners() == 3 && context.fills_as_placed() && !pipeline.has_side_effects();
        if is_merged || pipeline.patches.is_some() || !is_plain || pipeline.reads_attachments {
            return Err(Counter::PoshNotDeferredKind);
        }
        if !context.depths_within_corners {
            return Err(Counter::PoshNotDeferredDepth);
        }
        if pass.layers != 1 || self.pending.depth(0).is_none() {
            return Err(Counter::PoshNotDeferredOrder);
        }
        let state = PixelState::of(&self.state.dynamic, pipeline);
        let context: PixelContext<'_> = pixel_context(&state, pass, &self.deadline, None).with_segment();
        context.segment.ok_or(Counter::PoshNotDeferredOrder)
    }

    /// Defers a draw.
    ///
    /// # Errors
    /// [`DeviceLost`] when a program of an earlier deferred draw was interrupted.
    pub(super) fn wait(
        &mut self,
        (prepared, of_pixels): (&Arc<DrawState>, &Arc<CompiledPipeline>),
        (of_vertex, of_fragment): (&Arc<Bindings>, Option<&Arc<Bindings>>),
        call: DrawParams,
    ) -> Result<(), DeviceLost> {
        let segment = prepared.waits.get().and_then(|segment| segment.ok());
        let (primitives, most) = (primitives(&call), self.gpu.config().lookahead);
        let is_full = self.waiting.primitives + primitives > most || self.waiting.draws.len() >= MAX_DRAWS;
        if is_full || self.waiting.segment != segment {
            self.drain()?;
        }
        self.waiting.segment = segment;
        self.waiting.primitives += primitives;
        self.waiting.draws.push(DeferredDraw {
            prepared: prepared.clone(),
            of_pixels: of_pixels.clone(),
            of_vertex: of_vertex.clone(),
            of_fragment: of_fragment.cloned(),
            push: self.state.push,
            dynamic: self.state.dynamic,
            index_buffer: call.first_index.and_then(|_| self.state.index_buffer.clone()),
            call,
        });
        Ok(())
    }

    /// Replays all deferred draws and adds their primitives to windows.
    ///
    /// # Errors
    /// [`DeviceLost`] when a program was interrupted.
    pub(super) fn drain(&mut self) -> Result<(), DeviceLost> {
        if self.waiting.draws.is_empty() {
            return Ok(());
        }
        let Waiting { mut draws, segment, mut early, .. } = std::mem::take(&mut self.waiting);
        let suspended = self.begin_waiting_draws();
        let done = match segment {
            Some(segment) => self.replay(&draws, segment, &mut early),
            None => Ok(()),
        };
        self.end_waiting_draws(&suspended);
        draws.clear();
        self.waiting = Waiting { draws, early, ..Waiting::default() };
        done
    }

    fn replay(
        &mut self,
        waits: &[DeferredDraw],
        (_, direction): Segment,
        early: &mut EarlyBounds,
    ) -> Result<(), DeviceLost> {
        let (gpu, deadline, counters) = (self.gpu, self.deadline.clone(), self.counters().cloned());
        let takers =
            FrontEndContext { gpu, layers: 1, counters: counters.as_deref(), is_capturing: false, captures: None };
        let environments: Vec<Environment<'_>> = waits.iter().map(|waits| waits.job().environment(&deadline)).collect();
        let mut draws = Vec::with_capacity(waits.len());
        let mut samples = Vec::with_capacity(waits.len());
        for (waits, environment) in waits.iter().zip(&environments) {
            let sample = self.begin_draw_sample();
            if let Some(mut assembled) = waits.job().assemble(environment, takers) {
                let pipeline = &waits.prepared.pipeline;
                assembled.posh = Some((gpu.config().posh, pipeline.vertex_kernel.positions(pipeline)));
                draws.push((waits, assembled));
                samples.push(sample);
            }
            self.add_to_sample(sample);
        }
        self.pending.know(direction, early);
        let (grid, depth_bits) = (*self.pending.grid(), self.pending.depth_bits());
        let extent = self.pending.depth(0).map_or([0; 2], Hierarchy::extent);
        let seen = Lookahead::new(&draws, Depths { grid: &grid, depth_bits, extent }).run(takers, &deadline, early)?;
        if let Some(counters) = takers.counters {
            counters.count(Counter::PoshDeferredDraws, draws.len() as u64);
        }
        // The cull pipe ran for all draws together, so its counts belong to no draw.
        self.add_to_sample(None);
        let mut first = 0;
        for ((waits, draw), sample) in draws.iter_mut().zip(samples) {
            let blocks = first..first + draw.blocks();
            first = blocks.end;
            if let Some(blocks) = seen.as_ref().map(|seen| &seen[blocks]) {
                if !blocks.contains(&true) {
                    continue;
                }
                let depths = Depths { grid: &grid, depth_bits, extent };
                draw.visible = depths.hiding(early, (waits, draw)).map(|hiding| VisibleBlocks { blocks, hiding });
            }
            if !gpu.config().posh.takes_draw(draw.count()) {
                draw.posh = None;
            }
            self.pending.begin_command();
            windows(self, &waits.job().drawn(), draw)?;
            self.add_to_sample(sample);
        }
        Ok(())
    }
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
        (waits, draw): (&DeferredDraw, &Assembled<'_>),
    ) -> Option<OcclusionTest<'a>> {
        OcclusionTest::new(early, self.grid, waits.scissor(), (self.depth_bits, draw.depth_range()))
    }
}

/// One run of the cull pipe over the deferred draws.
struct Lookahead<'a, 'd> {
    draws: &'a [(&'d DeferredDraw, Assembled<'d>)],
    depths: Depths<'a>,
    pieces: Vec<Piece>,
    /// Extents of the chunks, once computed.
    sketches: Vec<OnceLock<ChunkBounds>>,
    /// Number of blocks of all draws.
    blocks: usize,
}

impl<'a, 'd> Lookahead<'a, 'd> {
    fn new(draws: &'a [(&'d DeferredDraw, Assembled<'d>)], depths: Depths<'a>) -> Self {
        let (mut pieces, mut blocks) = (Vec::new(), 0);
        for (number, (_, draw)) in draws.iter().enumerate() {
            let of_draw = draw.lookahead_chunks().map(|LookaheadChunk { range, first_block }| Piece {
                draw: number,
                range,
                block: blocks + first_block,
            });
            pieces.extend(of_draw);
            blocks += draw.blocks();
        }
        let sketches = pieces.iter().map(|_| OnceLock::new()).collect();
        Self { draws, depths, pieces, sketches, blocks }
    }

    /// Returns for each block of all draws whether it may be visible; `None` if the look-ahead
    /// does not pay.
    ///
    /// # Errors
    /// [`DeviceLost`] when a program was interrupted.
    fn run(
        &self,
        takers: FrontEndContext<'_>,
        deadline: &Deadline,
        early: &mut EarlyBounds,
    ) -> Result<Option<Vec<bool>>, DeviceLost> {
        let (gpu, mut updated, mut with_blocks) = (takers.gpu, 0, true);
        if gpu.config().posh == Posh::Auto {
            let sample: Vec<usize> = (0..self.pieces.len()).filter(|&number| self.is_sample(number)).collect();
            self.sketch((gpu, deadline), &sample, true)?;
            updated += self.update_hiz(early, &sample);
            let large = sample.into_iter().filter(|&number| self.draw(number).1.count() >= MIN_POSH_PRIMITIVES);
            let tally = self.judge(early, large, &mut |_| {});
            if !tally.is_worth_it() {
                let total = self.draws.iter().map(|(_, draw)| draw.count()).sum();
                let kernels = self.draws.iter().filter_map(|(_, draw)| draw.posh);
                kernels.for_each(|(_, kernel)| kernel.heuristic.pause_deferral(total));
                return Ok(None);
            }
            with_blocks = tally.needs_blocks();
        }
        let is_left = |number: &usize| self.sketches[*number].get().is_none();
        let rest: Vec<usize> = (0..self.pieces.len()).filter(is_left).collect();
        self.sketch((gpu, deadline), &rest, with_blocks)?;
        updated += self.update_hiz(early, &rest);
        let mut visible = vec![true; self.blocks];
        let tally = self.judge(early, 0..self.pieces.len(), &mut |block| visible[block] = false);
        if let Some(counters) = takers.counters {
            self.count(counters, tally, updated);
        }
        Ok(Some(visible))
    }

    /// Returns the draw of a chunk.
    fn draw(&self, number: usize) -> &'a (&'d DeferredDraw, Assembled<'d>) {
        &self.draws[self.pieces[number].draw]
    }

    /// Returns true if a chunk belongs to the sample that represents all chunks.
    fn is_sample(&self, number: usize) -> bool {
        number.is_multiple_of(SAMPLED) || self.draw(number).1.count() <= SMALL
    }

    /// Computes the extents of chunks on all threads, and with `with_blocks` also those of their
    /// blocks.
    ///
    /// # Errors
    /// [`DeviceLost`] when a program was interrupted.
    fn sketch(
        &self,
        (gpu, deadline): (&Gpu, &Deadline),
        numbers: &[usize],
        with_blocks: bool,
    ) -> Result<(), DeviceLost> {
        let ok = AtomicBool::new(true);
        let work = |scratch: &mut FrontScratch, number: usize| {
            if !ok.load(Ordering::Relaxed) {
                return;
            }
            let piece = &self.pieces[number];
            let found = self.draw(number).1.bound_chunk(scratch, piece.range.clone(), with_blocks);
            match found {
                Ok(found) if !deadline.expired() => drop(self.sketches[number].set(found.unwrap_or_default())),
                _ => ok.store(false, Ordering::Relaxed),
            }
        };
        let fronts = || {
            let mut front = gpu.fronts().acquire();
            front.look_ahead();
            front
        };
        gpu.workers().parallel(numbers.len(), fronts, |scratch, index| work(scratch, numbers[index]));
        if ok.into_inner() { Ok(()) } else { Err(DeviceLost::TimedOut(Stage::Vertex)) }
    }

    /// Updates the Hi-Z bounds with large primitives of chunks. Returns the number of these
    /// primitives.
    fn update_hiz(&self, early: &mut EarlyBounds, numbers: &[usize]) -> usize {
        let mut updated = 0;
        for &number in numbers {
            let updates = self.sketches[number].get().map_or(&[][..], |sketch| &sketch.updates);
            if updates.is_empty() {
                continue;
            }
            let waits = self.draw(number).0;
            let multisample = &waits.prepared.pipeline.multisample;
            let update_rules = UpdateRules {
                visibility: waits.job().drawn().visibility,
                scissor: waits.scissor(),
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
    fn judge(&self, early: &EarlyBounds, numbers: impl Iterator<Item = usize>, hide: &mut impl FnMut(usize)) -> Tally {
        numbers.fold(Tally::default(), |tally, number| {
            let (waits, draw) = self.draw(number);
            match self.depths.hiding(early, (waits, draw)) {
                Some(hiding) => tally.with(&self.pieces[number], self.sketches[number].get(), &hiding, hide),
                None => tally,
            }
        })
    }

    fn count(&self, counters: &Counters, tally: Tally, updated: usize) {
        let count = |counter, many: usize| counters.count(counter, many as u64);
        let found = || self.sketches.iter().filter_map(OnceLock::get);
        count(Counter::PoshLookaheadChunks, self.pieces.len());
        count(Counter::PoshLookaheadBytes, size_of_val(&*self.sketches) + self.blocks);
        count(Counter::PoshHizUpdates, updated);
        count(Counter::PoshVertices, found().map(|sketch| sketch.vertices).sum());
        count(Counter::PoshVolumeKills, tally.outside);
        count(Counter::PoshHiddenKills, tally.hidden);
        count(Counter::ClipInputs, tally.outside + tally.hidden);
        count(Counter::ClipOutputs, tally.hidden);
    }
}

/// The result of testing primitives.
#[derive(Clone, Copy)]
enum Fate {
    Outside,
    Hidden,
    Visible,
}

fn fate(extent: &Extent, hiding: &OcclusionTest<'_>) -> Fate {
    match extent {
        Extent::Outside => Fate::Outside,
        Extent::Anywhere => Fate::Visible,
        Extent::Within(pixels, depths) => match hiding.touchable(pixels.map(i64::from)) {
            None => Fate::Outside,
            Some(pixels) if hiding.hides(pixels, *depths) => Fate::Hidden,
            Some(_) => Fate::Visible,
        },
    }
}

impl Tally {
    /// Returns true if enough primitives are hidden to continue the look-ahead.
    fn is_worth_it(self) -> bool {
        self.hidden > 0 && self.hidden * WORTH >= self.all - self.outside
    }

    /// Returns true if enough primitives are culled by blocks to compute the extents of blocks.
    fn needs_blocks(self) -> bool {
        self.by_blocks * BLOCKS_WORTH >= self.all
    }

    /// Adds a chunk to the counts, and calls `hide` for each block that need not be drawn.
    fn with(
        mut self,
        piece: &Piece,
        sketch: Option<&ChunkBounds>,
        hiding: &OcclusionTest<'_>,
        hide: &mut impl FnMut(usize),
    ) -> Self {
        let range = &piece.range.primitives;
        self.all += range.len();
        let Some(sketch) = sketch else { return self };
        let whole = fate(&sketch.whole, hiding);
        for (number, start) in (0..).zip(range.clone().step_by(BLOCK)) {
            let count = BLOCK.min(range.end - start);
            let is_open = matches!(whole, Fate::Visible);
            match if is_open { fate(sketch.blocks.get(number).unwrap_or(&Extent::Anywhere), hiding) } else { whole } {
                Fate::Outside => self.outside += count,
                Fate::Hidden => self.hidden += count,
                Fate::Visible => continue,
            }
            self.by_blocks += if is_open { count } else { 0 };
            hide(piece.block + number);
        }
        self
    }
}
