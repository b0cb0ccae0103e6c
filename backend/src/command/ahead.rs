//! Draws that wait for those behind them: the cull pipe runs ahead on them, so that what is drawn last hides what was drawn first.
//!
//! Draws of one *segment* gather here: what each of them draws is opaque in the same attachments, compares depth in one direction and writes
//! it, and has no other effect, so it does not matter that what a later one hides was never drawn (DESIGN 3.2, "look-ahead safety"). When
//! anything else comes, or enough of them wait, the cull pipe takes their positions, piece by piece on all threads, and keeps where blocks
//! of primitives lie. Those that are large teach the visibility structure; then blocks that it hides are left out, and the draws are
//! replayed in order, with what is left. Source: DESIGN 3.3.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::draw::{Call, Job, Prepared, Takers, pixel_context, windows};
use super::pending::PixelState;
use super::processor::{Dynamic, IndexBuffer, PUSH_BYTES, Processor};
use super::viewports::touched;
use crate::counters::Counter;
use crate::geometry::{Assembled, BLOCK, Extent, FEWEST, Posh, Seen, Sketch, is_list};
use crate::gpu::{DeviceLost, Gpu};
use crate::hiz::Early;
use crate::pixel::{PixelContext, Segment};
use crate::shader::interp::{Deadline, Environment};
use crate::shader::runtime::Bindings;
use crate::tiling::{Grid, Hiding, Teaching, teach_lessons};

/// Draws that wait, at most.
const MOST_DRAWS: usize = 1 << 12;

/// Most vertices of a strip or a fan that waits: it is assembled in memory.
const MOST_ASSEMBLED: u32 = 1 << 14;

/// One of so many pieces tells whether it is worth while to look at all; those of draws of fewer primitives do, too: a wall has few.
const SAMPLED: usize = 8;
const SMALL: usize = 2 * BLOCK;

/// It is where one of so many primitives need not be drawn.
const WORTH: usize = 8;

/// A draw that waits.
struct Waits {
    prepared: Arc<Prepared>,
    of_vertex: Arc<Bindings>,
    of_fragment: Option<Arc<Bindings>>,
    push: [u8; PUSH_BYTES],
    dynamic: Dynamic,
    index_buffer: Option<IndexBuffer>,
    call: Call,
}

/// Draws that wait, all of one segment.
#[derive(Default)]
pub(super) struct Waiting {
    draws: Vec<Waits>,
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

impl Waits {
    fn job(&self) -> Job<'_> {
        Job {
            prepared: &self.prepared,
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
fn primitives(call: &Call) -> usize {
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
    all: usize,
}

impl Processor<'_> {
    /// Whether a draw may wait for later ones, and whether it pays to let it.
    pub(super) fn lets_wait(&self, prepared: &Prepared, call: &Call) -> bool {
        let (config, waiting, primitives) = (self.gpu.config(), &self.waiting, primitives(call));
        if config.posh == Posh::Off || config.ahead == 0 {
            return false;
        }
        let reason = if primitives < FEWEST && waiting.draws.is_empty() && config.posh == Posh::Auto {
            Some(Counter::PoshLeftFew)
        } else {
            self.why_not(prepared, call, primitives)
        };
        if let (Some(counters), Some(reason)) = (self.counters(), reason) {
            counters.count(reason, 1);
        }
        reason.is_none()
    }

    fn why_not(&self, prepared: &Prepared, call: &Call, primitives: usize) -> Option<Counter> {
        let (config, pipeline) = (self.gpu.config(), &prepared.pipeline);
        // What a query counts must be drawn.
        if self.occlusion.is_some() || self.statistics.is_some() {
            return Some(Counter::PoshLeftOrder);
        }
        let is_in_memory = !is_list(pipeline.topology) || pipeline.primitive_restart;
        if primitives > config.ahead || is_in_memory && call.count > MOST_ASSEMBLED {
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
        if primitives < FEWEST {
            return Some(Counter::PoshLeftFew);
        }
        let rests = pipeline.vertex_kernel.positions(pipeline).balance.rests(primitives);
        rests.then_some(Counter::PoshLeftRest)
    }

    /// The segment of draws with a state, or why they are left out.
    fn segment(&self, prepared: &Prepared) -> Result<Segment, Counter> {
        let (pipeline, pass) = (&prepared.pipeline, self.pass.as_ref().ok_or(Counter::PoshLeftKind)?);
        let context = prepared.contexts.first().ok_or(Counter::PoshLeftKind)?;
        let is_merged = pipeline.merged_kernel.get(pipeline).is_some();
        let is_plain = pipeline.corners() == 3 && context.fills_as_placed() && !pipeline.has_side_effects();
        if is_merged || !is_plain || pipeline.reads_attachments {
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
        prepared: &Arc<Prepared>,
        (of_vertex, of_fragment): (&Arc<Bindings>, Option<&Arc<Bindings>>),
        call: Call,
    ) -> Result<(), DeviceLost> {
        let segment = prepared.waits.get().and_then(|segment| segment.ok());
        let (primitives, most) = (primitives(&call), self.gpu.config().ahead);
        let is_full = self.waiting.primitives + primitives > most || self.waiting.draws.len() >= MOST_DRAWS;
        if is_full || self.waiting.segment != segment {
            self.drain()?;
        }
        self.waiting.segment = segment;
        self.waiting.primitives += primitives;
        self.waiting.draws.push(Waits {
            prepared: prepared.clone(),
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
        let done = match segment {
            Some(segment) => self.replay(&draws, segment, &mut early),
            None => Ok(()),
        };
        draws.clear();
        self.waiting = Waiting { draws, early, ..Waiting::default() };
        done
    }

    fn replay(&mut self, draws: &[Waits], segment: Segment, early: &mut Early) -> Result<(), DeviceLost> {
        let (gpu, deadline, counters) = (self.gpu, self.deadline.clone(), self.counters().cloned());
        let takers = Takers { gpu, layers: 1, counters: counters.as_deref() };
        let environments: Vec<Environment<'_>> = draws.iter().map(|waits| waits.job().environment(&deadline)).collect();
        let (mut assembled, mut owners) = (Vec::with_capacity(draws.len()), Vec::with_capacity(draws.len()));
        for (waits, environment) in draws.iter().zip(&environments) {
            if let Some(mut draw) = waits.job().assemble(environment, takers)? {
                let pipeline = &waits.prepared.pipeline;
                draw.posh = Some((gpu.config().posh, pipeline.vertex_kernel.positions(pipeline)));
                assembled.push(draw);
                owners.push(waits);
            }
        }
        self.restart_deadline();
        let grid = *self.pending.grid();
        let visible = self.look_ahead((&assembled, &owners), (segment, &grid), early)?;
        if let Some(counters) = takers.counters {
            counters.count(Counter::PoshAheadDraws, assembled.len() as u64);
        }
        let mut first = 0;
        for (draw, waits) in assembled.iter_mut().zip(owners) {
            let blocks = first..first + draw.blocks();
            first = blocks.end;
            if let Some(blocks) = visible.as_ref().map(|visible| &visible[blocks]) {
                if blocks.iter().all(|visible| !visible) {
                    continue;
                }
                draw.seen = self.hiding(early, &grid, (waits, draw)).map(|hiding| Seen { blocks, hiding });
            }
            if !gpu.config().posh.takes_draw(draw.count()) {
                draw.posh = None;
            }
            self.restart_deadline();
            windows(self, &waits.job().drawn(), draw)?;
        }
        Ok(())
    }

    fn hiding<'a>(
        &self,
        early: &'a Early,
        grid: &'a Grid,
        (waits, draw): (&Waits, &Assembled<'_>),
    ) -> Option<Hiding<'a>> {
        Hiding::new(early, grid, waits.scissor(), (self.pending.depth_bits(), draw.depth_range()))
    }

    /// The cull pipe: for each block of all draws whether it may be visible; `None` where it is not worth while to know.
    fn look_ahead(
        &mut self,
        (assembled, owners): (&[Assembled<'_>], &[&Waits]),
        ((_, direction), grid): (Segment, &Grid),
        early: &mut Early,
    ) -> Result<Option<Vec<bool>>, DeviceLost> {
        self.pending.know(direction, early);
        let (mut pieces, mut blocks) = (Vec::new(), 0);
        for (number, draw) in assembled.iter().enumerate() {
            pieces.extend(draw.pieces().map(|(instance, range, block)| Piece {
                draw: number,
                instance,
                range,
                block: blocks + block,
            }));
            blocks += draw.blocks();
        }
        let sketches: Vec<OnceLock<Sketch>> = (0..pieces.len()).map(|_| OnceLock::new()).collect();
        let is_large = |piece: &Piece| assembled[piece.draw].count() >= FEWEST;
        let (gpu, deadline, is_auto) = (self.gpu, &self.deadline.clone(), self.gpu.config().posh == Posh::Auto);
        let mut taught = 0;
        if is_auto {
            let is_small = |number: usize| assembled[pieces[number].draw].count() <= SMALL;
            let is_sample = |number: &usize| number.is_multiple_of(SAMPLED) || is_small(*number);
            let sample: Vec<usize> = (0..pieces.len()).filter(is_sample).collect();
            sketch((gpu, deadline), assembled, &pieces, (&sample, &sketches))?;
            taught += self.teach(early, grid, (owners, &pieces, &sketches), &sample);
            let large = sample.iter().copied().filter(|&number| is_large(&pieces[number]));
            let tally = large.fold(Tally::default(), |tally, number| {
                let of = (owners[pieces[number].draw], &assembled[pieces[number].draw]);
                let Some(hiding) = self.hiding(early, grid, of) else { return tally };
                tally.judge(&pieces[number], sketches[number].get(), &hiding, &mut |_, _| {})
            });
            if (tally.outside + tally.hidden) * WORTH < tally.all.max(1) {
                let total = assembled.iter().map(Assembled::count).sum();
                assembled
                    .iter()
                    .filter_map(|draw| draw.posh)
                    .for_each(|(_, kernel)| kernel.balance.waited_in_vain(total));
                return Ok(None);
            }
        }
        let rest: Vec<usize> = (0..pieces.len()).filter(|&number| sketches[number].get().is_none()).collect();
        sketch((gpu, deadline), assembled, &pieces, (&rest, &sketches))?;
        taught += self.teach(early, grid, (owners, &pieces, &sketches), &rest);
        let (mut visible, mut tally) = (vec![true; blocks], Tally::default());
        for (piece, sketch) in pieces.iter().zip(&sketches) {
            if let Some(hiding) = self.hiding(early, grid, (owners[piece.draw], &assembled[piece.draw])) {
                tally = tally.judge(piece, sketch.get(), &hiding, &mut |block, seen| visible[block] = seen);
            }
        }
        self.count_ahead(tally, (&sketches, taught, blocks));
        Ok(Some(visible))
    }

    fn count_ahead(&self, tally: Tally, (sketches, taught, blocks): (&[OnceLock<Sketch>], usize, usize)) {
        let Some(counters) = self.counters() else { return };
        let count = |counter, many: usize| counters.count(counter, many as u64);
        count(Counter::PoshAheadPieces, sketches.len());
        count(Counter::PoshAheadBytes, size_of_val(sketches) + blocks);
        count(Counter::PoshLessons, taught);
        count(Counter::PoshVertices, sketches.iter().filter_map(OnceLock::get).map(|sketch| sketch.vertices).sum());
        count(Counter::PoshVolumeKills, tally.outside);
        count(Counter::PoshHiddenKills, tally.hidden);
        count(Counter::ClipInputs, tally.outside + tally.hidden);
        count(Counter::ClipOutputs, tally.hidden);
    }

    /// Some pieces teach what hides all. Returns how many primitives did.
    fn teach(
        &self,
        early: &mut Early,
        grid: &Grid,
        (owners, pieces, sketches): (&[&Waits], &[Piece], &[OnceLock<Sketch>]),
        numbers: &[usize],
    ) -> usize {
        let Some(depth) = self.pending.depth(0) else { return 0 };
        let mut taught = 0;
        for (piece, sketch) in numbers.iter().filter_map(|&number| Some((&pieces[number], sketches[number].get()?))) {
            let (waits, lessons) = (owners[piece.draw], &sketch.lessons);
            if lessons.is_empty() {
                continue;
            }
            let multisample = &waits.prepared.pipeline.multisample;
            let teaching = Teaching {
                visibility: waits.job().drawn().visibility,
                scissor: waits.scissor(),
                depths: (self.pending.depth_bits(), multisample.samples),
                extent: depth.extent(),
            };
            teach_lessons(early, lessons, grid, (&teaching, &multisample.locations()));
            taught += lessons.len();
        }
        taught
    }
}

/// Finds where some pieces of draws lie, on all threads.
fn sketch(
    (gpu, deadline): (&Gpu, &Deadline),
    assembled: &[Assembled<'_>],
    pieces: &[Piece],
    (numbers, sketches): (&[usize], &[OnceLock<Sketch>]),
) -> Result<(), DeviceLost> {
    let ok = AtomicBool::new(true);
    let work = |scratch: &mut _, index: usize| {
        let (number, piece) = (numbers[index], &pieces[numbers[index]]);
        if !ok.load(Ordering::Relaxed) {
            return;
        }
        let found = assembled[piece.draw].sketch(scratch, (piece.instance, piece.range.clone()));
        match found {
            Ok(found) if !deadline.expired() => drop(sketches[number].set(found.unwrap_or_default())),
            _ => ok.store(false, Ordering::Relaxed),
        }
    };
    gpu.workers().parallel(numbers.len(), || gpu.fronts().lend(), |scratch, index| work(&mut ***scratch, index));
    if ok.into_inner() { Ok(()) } else { Err(DeviceLost) }
}

/// What becomes of some primitives.
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
    /// The same with a piece, of which `see` is told for each block whether it may be visible.
    fn judge(
        mut self,
        piece: &Piece,
        sketch: Option<&Sketch>,
        hiding: &Hiding<'_>,
        see: &mut impl FnMut(usize, bool),
    ) -> Self {
        self.all += piece.range.len();
        let Some(sketch) = sketch else { return self };
        let whole = fate(&sketch.whole, hiding);
        for (number, start) in (0..).zip(piece.range.clone().step_by(BLOCK)) {
            let count = BLOCK.min(piece.range.end - start);
            let own = match whole {
                Fate::Visible => fate(&sketch.blocks[number], hiding),
                Fate::Outside => Fate::Outside,
                Fate::Hidden => Fate::Hidden,
            };
            match own {
                Fate::Outside => self.outside += count,
                Fate::Hidden => self.hidden += count,
                Fate::Visible => continue,
            }
            see(piece.block + number, false);
        }
        self
    }
}
