//! Draws that wait for those behind them: the cull pipe runs ahead on them, so that what is drawn last hides what was drawn first.
//!
//! Draws of one *segment* gather here: what each of them draws is opaque in the same attachments, compares depth in one direction and writes
//! it, and has no other effect, so it does not matter that what a later one hides was never drawn (DESIGN 3.2, "look-ahead safety"). When
//! anything else comes, or enough of them wait, the cull pipe takes their positions, piece by piece on all threads, and keeps where blocks
//! of primitives lie. Those that are large update the visibility structure; then blocks that it hides are left out, and the draws are
//! replayed in order, with what is left. Source: DESIGN 3.3.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use vitric_base::counters::{Counter, Counters};
use vitric_exec::interp::{Deadline, Environment};
use vitric_exec::runtime::Bindings;

use super::draw::{DrawParams, DrawState, FrontEndContext, Job, pixel_context, windows};
use super::pending::PixelState;
use super::processor::{Dynamic, IndexBuffer, PUSH_BYTES, Processor};
use super::viewports::touched;
use crate::geometry::{Assembled, BLOCK, Extent, FrontScratch, MIN_POSH_PRIMITIVES, Posh, Seen, Sketch};
use crate::gpu::{DeviceLost, Gpu, Stage};
use crate::hiz::{Early, Hierarchy};
use crate::hiz::{Hiding, UpdateRules, apply_updates};
use crate::pipeline::CompiledPipeline;
use crate::pixel::{PixelContext, Segment};
use crate::raster::Grid;
use crate::state::{is_list, vertices};

/// Draws that wait, at most.
const MAX_DRAWS: usize = 1 << 12;

/// Most vertices of a strip or a fan that waits: it is assembled in memory.
const MAX_ASSEMBLED: u32 = 1 << 14;

/// One of so many pieces tells whether it is worth while to look at all; those of draws of fewer primitives do, too: a wall has few.
const SAMPLED: usize = 8;
const SMALL: usize = 2 * BLOCK;

/// It is where one of so many primitives that are inside of the view volume is hidden: what is outside is left out without waiting, too.
const WORTH: usize = 8;

/// The part of all primitives of which blocks must tell: what is drawn costs far more than to ask where a block lies.
const BLOCKS_WORTH: usize = 32;

/// A draw that waits.
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

/// Draws that wait, all of one segment.
#[derive(Default)]
pub(super) struct Waiting {
    draws: Vec<DeferredDraw>,
    segment: Option<Segment>,
    /// Primitives of all of them.
    primitives: usize,
    /// What hides them; kept for its memory.
    early: Early,
}

impl Waiting {
    /// Draws are not to be drawn any more.
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

    /// Pixels that it may touch.
    fn scissor(&self) -> [i64; 4] {
        touched(&self.dynamic, &self.prepared.pipeline)
    }
}

/// Primitives of a draw's call, about.
fn primitives(call: &DrawParams) -> usize {
    (call.count as usize / 3).saturating_mul(call.instances as usize)
}

/// A piece of a draw that waits.
struct Piece {
    draw: usize,
    instance: u32,
    range: Range<usize>,
    /// Number of its first block among those of all draws.
    block: usize,
}

/// Primitives that need not be drawn.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    outside: usize,
    hidden: usize,
    /// Those of either that only blocks tell.
    by_blocks: usize,
    all: usize,
}

impl Processor<'_> {
    /// Returns whether any draw waits for later ones.
    pub(super) fn has_draws_waiting(&self) -> bool {
        !self.waiting.draws.is_empty()
    }

    /// Whether a draw may wait for later ones, and whether it pays to let it.
    pub(super) fn lets_wait(&self, prepared: &DrawState, call: &DrawParams) -> bool {
        let (config, waiting, primitives) = (self.gpu.config(), &self.waiting, primitives(call));
        if config.posh == Posh::Off || config.lookahead == 0 {
            return false;
        }
        let reason = if primitives < MIN_POSH_PRIMITIVES && waiting.draws.is_empty() && config.posh == Posh::Auto {
            Some(Counter::PoshLeftFew)
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
        // What a query counts must be drawn.
        if self.occlusion.counter().is_some() || self.counts_vertices() {
            return Some(Counter::PoshLeftOrder);
        }
        let is_in_memory = !is_list(pipeline.topology, vertices(pipeline.topology)) || pipeline.primitive_restart;
        if primitives > config.lookahead || is_in_memory && call.count > MAX_ASSEMBLED {
            return Some(Counter::PoshLeftKind);
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
            return Some(Counter::PoshLeftFew);
        }
        let rests = pipeline.vertex_kernel.positions(pipeline).balance.rests(primitives);
        rests.then_some(Counter::PoshLeftRest)
    }

    /// The segment of draws with a state, or why they are left out.
    fn segment(&self, prepared: &DrawState) -> Result<Segment, Counter> {
        let (pipeline, pass) = (&prepared.pipeline, self.pass.as_ref().ok_or(Counter::PoshLeftKind)?);
        let context = prepared.contexts.first().ok_or(Counter::PoshLeftKind)?;
        let is_merged = pipeline.merged_kernel.get(pipeline).is_some();
        let is_plain = pipeline.corners() == 3 && context.fills_as_placed() && !pipeline.has_side_effects();
        if is_merged || pipeline.patches.is_some() || !is_plain || pipeline.reads_attachments {
            return Err(Counter::PoshLeftKind);
        }
        if !context.own_depths {
            return Err(Counter::PoshLeftDepth);
        }
        if pass.layers != 1 || self.pending.depth(0).is_none() {
            return Err(Counter::PoshLeftOrder);
        }
        let state = PixelState::of(&self.state.dynamic, pipeline);
        let context: PixelContext<'_> = pixel_context(&state, pass, &self.deadline, None).with_segment();
        context.segment.ok_or(Counter::PoshLeftOrder)
    }

    /// Lets a draw wait.
    ///
    /// # Errors
    /// [`DeviceLost`] when a program of those that waited before was interrupted.
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

    /// Takes all draws that wait as far as windows.
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

    fn replay(&mut self, waits: &[DeferredDraw], (_, direction): Segment, early: &mut Early) -> Result<(), DeviceLost> {
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
            counters.count(Counter::PoshAheadDraws, draws.len() as u64);
        }
        // The cull pipe runs for all of them together.
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
                draw.seen = depths.hiding(early, (waits, draw)).map(|hiding| Seen { blocks, hiding });
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

/// The depths that draws are tested against.
#[derive(Clone, Copy)]
struct Depths<'a> {
    grid: &'a Grid,
    depth_bits: u32,
    /// Pixels of the image along each axis.
    extent: [i64; 2],
}

impl<'a> Depths<'a> {
    /// What hides a draw's primitives.
    fn hiding(self, early: &'a Early, (waits, draw): (&DeferredDraw, &Assembled<'_>)) -> Option<Hiding<'a>> {
        Hiding::new(early, self.grid, waits.scissor(), (self.depth_bits, draw.depth_range()))
    }
}

/// The cull pipe, ahead of the draws that wait.
struct Lookahead<'a, 'd> {
    draws: &'a [(&'d DeferredDraw, Assembled<'d>)],
    depths: Depths<'a>,
    pieces: Vec<Piece>,
    /// Where they lie, once that was found.
    sketches: Vec<OnceLock<Sketch>>,
    /// Blocks of all draws.
    blocks: usize,
}

impl<'a, 'd> Lookahead<'a, 'd> {
    fn new(draws: &'a [(&'d DeferredDraw, Assembled<'d>)], depths: Depths<'a>) -> Self {
        let (mut pieces, mut blocks) = (Vec::new(), 0);
        for (number, (_, draw)) in draws.iter().enumerate() {
            let of_draw = draw.pieces().map(|(instance, range, block)| Piece {
                draw: number,
                instance,
                range,
                block: blocks + block,
            });
            pieces.extend(of_draw);
            blocks += draw.blocks();
        }
        let sketches = pieces.iter().map(|_| OnceLock::new()).collect();
        Self { draws, depths, pieces, sketches, blocks }
    }

    /// For each block of all draws whether it may be visible; `None` where it is not worth while to know.
    ///
    /// # Errors
    /// [`DeviceLost`] when a program was interrupted.
    fn run(
        &self,
        takers: FrontEndContext<'_>,
        deadline: &Deadline,
        early: &mut Early,
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
                kernels.for_each(|(_, kernel)| kernel.balance.waited_in_vain(total));
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

    /// The draw of a piece.
    fn draw(&self, number: usize) -> &'a (&'d DeferredDraw, Assembled<'d>) {
        &self.draws[self.pieces[number].draw]
    }

    /// Whether a piece says something of all.
    fn is_sample(&self, number: usize) -> bool {
        number.is_multiple_of(SAMPLED) || self.draw(number).1.count() <= SMALL
    }

    /// Finds where some pieces lie, and their blocks where that is asked for, on all threads.
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
            let found = self.draw(number).1.sketch(scratch, (piece.instance, piece.range.clone()), with_blocks);
            match found {
                Ok(found) if !deadline.expired() => drop(self.sketches[number].set(found.unwrap_or_default())),
                _ => ok.store(false, Ordering::Relaxed),
            }
        };
        let fronts = || {
            let mut front = gpu.fronts().lend();
            front.look_ahead();
            front
        };
        gpu.workers().parallel(numbers.len(), fronts, |scratch, index| work(scratch, numbers[index]));
        if ok.into_inner() { Ok(()) } else { Err(DeviceLost::TimedOut(Stage::Vertex)) }
    }

    /// Some pieces update what hides all. Returns how many primitives did.
    fn update_hiz(&self, early: &mut Early, numbers: &[usize]) -> usize {
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
                depths: (self.depths.depth_bits, multisample.samples),
                extent: self.depths.extent,
            };
            apply_updates(early, updates, self.depths.grid, (&update_rules, &multisample.locations()));
            updated += updates.len();
        }
        updated
    }

    /// Judges some pieces; `hide` is told of each block that need not be drawn.
    fn judge(&self, early: &Early, numbers: impl Iterator<Item = usize>, hide: &mut impl FnMut(usize)) -> Tally {
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
        count(Counter::PoshAheadPieces, self.pieces.len());
        count(Counter::PoshAheadBytes, size_of_val(&*self.sketches) + self.blocks);
        count(Counter::PoshLessons, updated);
        count(Counter::PoshVertices, found().map(|sketch| sketch.vertices).sum());
        count(Counter::PoshVolumeKills, tally.outside);
        count(Counter::PoshHiddenKills, tally.hidden);
        count(Counter::ClipInputs, tally.outside + tally.hidden);
        count(Counter::ClipOutputs, tally.hidden);
    }
}

/// What becomes of some primitives.
#[derive(Clone, Copy)]
enum Fate {
    Outside,
    Hidden,
    Visible,
}

fn fate(extent: &Extent, hiding: &Hiding<'_>) -> Fate {
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
    /// Whether so many are hidden that draws should wait.
    fn is_worth_it(self) -> bool {
        self.hidden > 0 && self.hidden * WORTH >= self.all - self.outside
    }

    /// Whether blocks tell of so many that it pays to ask where each lies.
    fn needs_blocks(self) -> bool {
        self.by_blocks * BLOCKS_WORTH >= self.all
    }

    /// The same with a piece, of which `hide` is told of each block that need not be drawn.
    fn with(
        mut self,
        piece: &Piece,
        sketch: Option<&Sketch>,
        hiding: &Hiding<'_>,
        hide: &mut impl FnMut(usize),
    ) -> Self {
        self.all += piece.range.len();
        let Some(sketch) = sketch else { return self };
        let whole = fate(&sketch.whole, hiding);
        for (number, start) in (0..).zip(piece.range.clone().step_by(BLOCK)) {
            let count = BLOCK.min(piece.range.end - start);
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
