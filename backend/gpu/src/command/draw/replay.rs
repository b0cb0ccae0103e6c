//! Replay of deferred draws: the cull pipe runs for all of them, and the primitives that remain are
//! drawn in order.
//!
//! The cull pipe shades positions of all draws in chunks, on all threads, and keeps a bit and the
//! bounds of each primitive that remains. Large primitives of certain writers update Hi-Z bounds.
//! The replay then goes through the chunks in order, in batches. All threads test the primitives of
//! a batch against the bounds, and shade and set up those that are not hidden. Tile passes between
//! batches tighten the bounds, so that small primitives hide later ones, too. Source: DESIGN 3.3.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use vitric_base::counters::{Counter, Counters, DrawSample};
use vitric_exec::interp::{Deadline, Environment};

use super::super::context::PassContext;
use super::super::pending::add_run;
use super::super::tile_pass;
use super::deferred::DeferredDraw;
use super::front_end::FrontEndContext;
use crate::geometry::{
    Assembled, BoundRules, ChunkCell, DrawBounds, DropCounts, FrontScratch, InstanceRange, Triangles,
};
use crate::gpu::{DeviceLost, Gpu, PipelineStage};
use crate::hiz::{
    DepthDirection, DepthFormat, DepthRange, EarlyBounds, Hierarchy, HizUpdate, OcclusionTest, UpdateCoverage,
    UpdateRules, apply_updates,
};
use crate::pixel::LookaheadSegment;
use crate::raster::{Criterion, Grid};
use crate::tiling::{DrawId, Runs, Window, WindowSorter};

/// Number of primitives of a job, which one thread sets up.
const JOB_PRIMITIVES: usize = 1 << 11;

/// Number of primitives of a batch of jobs, after which a tile pass may run.
const BATCH_PRIMITIVES: usize = 1 << 14;

/// Maximum number of windows of a batch: each has at least one primitive, and the last chunk may
/// exceed the batch.
const MAX_BATCH_WINDOWS: usize = 2 * BATCH_PRIMITIVES;

/// Deferral pays if at least one of this number of primitives that remain after culling is hidden.
/// Other primitives are also culled without look-ahead. The gallery's "instancing", where one in
/// five is hidden, takes 4 % more time with deferral.
const MAX_REMAINING_PER_HIDDEN: usize = 4;

/// Results of a replay.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outcome {
    /// Number of primitives that remained after culling.
    remaining: usize,
    /// Number of these that were hidden.
    hidden: usize,
}

impl Outcome {
    /// Returns true if enough primitives were hidden to defer such draws again.
    pub(super) fn pays(&self) -> bool {
        self.hidden > 0 && self.hidden * MAX_REMAINING_PER_HIDDEN >= self.remaining
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

/// A deferred draw after assembly.
struct ReplayedDraw<'d> {
    deferred: &'d DeferredDraw,
    assembled: Assembled<'d>,
    /// Sample that the counts of the draw are assigned to.
    sample: Option<DrawSample>,
    /// The draw's chunks among all chunks.
    chunks: Range<usize>,
}

/// A chunk of a deferred draw.
struct Chunk {
    draw: usize,
    range: InstanceRange,
}

/// Primitives of a draw that one thread sets up.
struct DrawRange {
    draw: usize,
    range: Range<usize>,
}

/// Ranges that one thread sets up, in order.
type Job = Vec<DrawRange>;

/// All deferred draws of a segment.
struct Replay<'a, 'd> {
    draws: &'a [ReplayedDraw<'d>],
    direction: DepthDirection,
    depths: Depths<'a>,
    chunks: Vec<Chunk>,
    /// Bounds of the chunks, once computed.
    bounds: Vec<ChunkCell>,
    dropped: DropCounts,
}

/// Runs the cull pipe for deferred draws of a segment, and adds their visible primitives to
/// windows. `early` is memory for Hi-Z bounds.
///
/// # Errors
/// [`DeviceLost`] when a program was interrupted.
pub(super) fn run(
    context: &mut PassContext<'_>,
    deferred: &[DeferredDraw],
    segment: LookaheadSegment,
    early: &mut EarlyBounds,
) -> Result<Outcome, DeviceLost> {
    let (gpu, deadline, counters) = (context.gpu, context.deadline, context.queries.counters().cloned());
    let front_end =
        FrontEndContext { gpu, layers: 1, counters: counters.as_deref(), is_capturing: false, captures: None };
    let environments: Vec<Environment<'_>> = deferred.iter().map(|draw| draw.job().environment(deadline)).collect();
    let mut draws = Vec::with_capacity(deferred.len());
    let mut chunks = Vec::new();
    for (draw, environment) in deferred.iter().zip(&environments) {
        let sample = context.queries.begin_draw_sample();
        if let Some(mut assembled) = draw.job().assemble(environment, front_end) {
            let (pipeline, first) = (&draw.state.pipeline, chunks.len());
            assembled.posh = Some((gpu.config().posh, pipeline.vertex_kernel.positions(pipeline)));
            let number = draws.len();
            chunks.extend(assembled.lookahead_chunks().map(|range| Chunk { draw: number, range }));
            draws.push(ReplayedDraw { deferred: draw, assembled, sample, chunks: first..chunks.len() });
        }
        context.queries.add_to_sample(sample);
    }
    let direction = segment.direction().unwrap_or(DepthDirection::Less);
    context.pending.copy_early_bounds(direction, early);
    let (grid, depth_bits) = (*context.pending.grid(), context.pending.depth_bits());
    let extent = context.pending.depth(0).map_or([0; 2], Hierarchy::extent);
    let depths = Depths { grid: &grid, depth_bits, extent };
    let bounds = chunks.iter().map(|_| ChunkCell::new()).collect();
    let dropped = DropCounts::default();
    let replay = Replay { draws: &draws, direction, depths, chunks, bounds, dropped };
    replay.run_cull_pipe(gpu, deadline)?;
    replay.update_hiz(early, deadline, front_end.counters)?;
    if let Some(counters) = front_end.counters {
        replay.count_culled(counters);
    }
    // The cull pipe ran for all draws together, so its counts belong to no draw.
    context.queries.add_to_sample(None);
    replay.draw_all(context, early, front_end.counters)
}

/// Checks the time limit between chunks, none of which is interrupted.
///
/// # Errors
/// [`DeviceLost`] when the time limit has expired.
fn check_time(deadline: &Deadline) -> Result<(), DeviceLost> {
    if deadline.expired() { Err(DeviceLost::TimedOut(PipelineStage::Vertex)) } else { Ok(()) }
}

/// Returns true if a primitive that would update Hi-Z is hidden.
fn is_hidden(test: &OcclusionTest<'_>, HizUpdate { shape, pixels, .. }: &HizUpdate) -> bool {
    let [min, max] = shape.depth_range;
    test.touchable(*pixels).is_none_or(|pixels| test.hides(pixels, DepthRange { min, max }))
}

/// Counts coverage that Hi-Z updates evaluated.
fn count_coverage(counters: &Counters, coverage: &UpdateCoverage) {
    let UpdateCoverage { tiles_touched, tiles_inner, groups_inner, samples } = *coverage;
    let rows = [
        ([Counter::TilesConservative, Counter::TilesTouched], tiles_touched),
        ([Counter::TilesInner, Counter::TilesCovered], tiles_inner),
        ([Counter::GroupsInner, Counter::GroupsCovered], groups_inner),
        ([Counter::SamplesStandard, Counter::SamplesCovered], samples),
    ];
    rows.into_iter().flat_map(|(names, numbers)| names.into_iter().zip(numbers)).for_each(|(name, number)| {
        counters.count(name, number);
    });
}

impl Depths<'_> {
    /// Returns the test of a draw's primitives.
    fn test<'e>(&'e self, early: &'e EarlyBounds, draw: &ReplayedDraw<'_>) -> Option<OcclusionTest<'e>> {
        let (area, range) = (draw.deferred.fragment_area(), draw.assembled.depth_range());
        OcclusionTest::new(early, self.grid, area, (self.depth_bits, range))
    }
}

impl Replay<'_, '_> {
    /// Runs the cull pipe for all chunks, on all threads.
    ///
    /// # Errors
    /// [`DeviceLost`] when a program was interrupted.
    fn run_cull_pipe(&self, gpu: &Gpu, deadline: &Deadline) -> Result<(), DeviceLost> {
        let ok = AtomicBool::new(true);
        let work = |scratch: &mut FrontScratch, number: usize| {
            if !ok.load(Ordering::Relaxed) {
                return;
            }
            let Chunk { draw, range } = &self.chunks[number];
            let ReplayedDraw { deferred, assembled, .. } = &self.draws[*draw];
            let role = deferred.role();
            let rules = BoundRules {
                direction: self.direction,
                is_droppable: role.is_some_and(|role| role.fails.covers(self.direction)),
                updates_hiz: role.is_some_and(|role| role.is_certain),
            };
            match assembled.bound_chunk(scratch, range.clone(), &rules) {
                Ok(bounds) if !deadline.expired() => drop(self.bounds[number].set(bounds)),
                _ => ok.store(false, Ordering::Relaxed),
            }
        };
        let fronts = || {
            let mut front = gpu.fronts().acquire();
            front.look_ahead();
            front
        };
        gpu.workers().parallel(self.chunks.len(), fronts, |scratch, number| work(scratch, number));
        if ok.into_inner() { Ok(()) } else { Err(DeviceLost::TimedOut(PipelineStage::Vertex)) }
    }

    /// Updates the Hi-Z bounds with large primitives, nearest chunks first, and counts.
    ///
    /// # Errors
    /// [`DeviceLost`] when the time limit has expired.
    fn update_hiz(
        &self,
        early: &mut EarlyBounds,
        deadline: &Deadline,
        counters: Option<&Counters>,
    ) -> Result<(), DeviceLost> {
        let known = |number: &usize| self.bounds[*number].get()?.as_ref();
        let has_updates = |number: &usize| known(number).is_some_and(|bounds| !bounds.updates.is_empty());
        let nearness = |number: &usize| known(number).map_or(f32::INFINITY, |bounds| bounds.nearness());
        let mut numbers: Vec<usize> = (0..self.chunks.len()).filter(has_updates).collect();
        numbers.sort_by(|a, b| nearness(a).total_cmp(&nearness(b)));
        let (mut updated, mut coverage) = (0, UpdateCoverage::default());
        for number in numbers {
            check_time(deadline)?;
            let draw = &self.draws[self.chunks[number].draw];
            let multisample = &draw.deferred.state.pipeline.multisample;
            let locations = multisample.locations();
            let update_rules = UpdateRules {
                visibility: draw.deferred.state.visibility,
                scissor: draw.deferred.fragment_area(),
                format: DepthFormat { bits: self.depths.depth_bits, samples: multisample.samples },
                extent: self.depths.extent,
                full: Criterion::of_full_cells(draw.deferred.state.pipeline.criterion()),
            };
            for update in known(&number).map_or(&[][..], |bounds| &bounds.updates) {
                // A hidden primitive would update nothing.
                let is_hidden = self.depths.test(early, draw).is_none_or(|test| is_hidden(&test, update));
                if !is_hidden {
                    let updates = std::slice::from_ref(update);
                    coverage.add(&apply_updates(early, updates, self.depths.grid, (&update_rules, &locations)));
                    updated += 1;
                }
            }
        }
        if let Some(counters) = counters {
            counters.count(Counter::PoshHizUpdates, updated);
            count_coverage(counters, &coverage);
        }
        Ok(())
    }

    /// Draws all chunks in order.
    ///
    /// # Errors
    /// [`DeviceLost`] when a program was interrupted.
    fn draw_all(
        &self,
        context: &mut PassContext<'_>,
        early: &mut EarlyBounds,
        counters: Option<&Counters>,
    ) -> Result<Outcome, DeviceLost> {
        let known = self.bounds.iter().filter_map(|bounds| bounds.get()?.as_ref());
        let mut outcome = Outcome { remaining: known.map(|bounds| bounds.remaining()).sum(), hidden: 0 };
        let mut next = 0;
        while next < self.chunks.len() {
            check_time(context.deadline)?;
            if context.pending.is_full(MAX_BATCH_WINDOWS) {
                tile_pass::run_beside(context, tile_pass::NO_WORK)?;
                context.pending.tighten_early_bounds(early);
            }
            let number = self.chunks[next].draw;
            let draw = &self.draws[number];
            let jobs = self.next_batch(&mut next, early, context.gpu);
            let windows = self.set_up(context.gpu, &jobs, early)?;
            self.queue(context, windows);
            if self.chunks.get(next).is_none_or(|chunk| chunk.draw != number) {
                tile_pass::end_draw(context)?;
            }
            let DropCounts { hidden, outside } = &self.dropped;
            let [hidden, outside] = [hidden, outside].map(|count| count.swap(0, Ordering::Relaxed));
            outcome.hidden += hidden;
            if let Some(counters) = counters {
                counters.count(Counter::PoshHiddenKills, hidden as u64);
                counters.count(Counter::PoshScissorKills, outside as u64);
                counters.count(Counter::ClipInputs, (hidden + outside) as u64);
                counters.count(Counter::ClipOutputs, (hidden + outside) as u64);
            }
            context.queries.add_to_sample(draw.sample);
        }
        if let Some(counters) = counters {
            counters.count(Counter::PoshLookaheads, 1);
            counters.count(Counter::PoshLookaheadsInVain, u64::from(!outcome.pays()));
        }
        Ok(outcome)
    }

    /// Collects chunks from number `next` on that may have to be drawn. A draw with a sample
    /// is a batch of its own, and without tile-based rendering every draw is.
    fn next_batch(&self, next: &mut usize, early: &EarlyBounds, gpu: &Gpu) -> Vec<Job> {
        let (mut jobs, mut primitives): (Vec<(usize, Job)>, _) = (Vec::new(), 0);
        let first = self.chunks[*next].draw;
        while let Some(Chunk { draw, range }) = self.chunks.get(*next).filter(|_| primitives < BATCH_PRIMITIVES) {
            let replayed = &self.draws[*draw];
            let is_alone = |draw: &ReplayedDraw<'_>| draw.sample.is_some() || !gpu.config().tbimr;
            if *draw != first && (is_alone(replayed) || is_alone(&self.draws[first])) {
                break;
            }
            let number = *next;
            *next += 1;
            let count = match self.bounds_of(*draw, early) {
                Some(bounds) => bounds.test_chunk(number - replayed.chunks.start, range.primitives.len()),
                None => range.primitives.len(),
            };
            if count == 0 {
                continue;
            }
            primitives += count;
            let range = replayed.assembled.range_of(range);
            match jobs.last_mut().filter(|(count, _)| *count < JOB_PRIMITIVES) {
                Some((all, job)) => {
                    *all += count;
                    match job.last_mut().filter(|last| last.draw == *draw && last.range.end == range.start) {
                        Some(last) => last.range.end = range.end,
                        None => job.push(DrawRange { draw: *draw, range }),
                    }
                }
                None => jobs.push((count, vec![DrawRange { draw: *draw, range }])),
            }
        }
        jobs.into_iter().map(|(_, job)| job).collect()
    }

    /// Returns the look-ahead results of a draw.
    fn bounds_of<'e>(&'e self, draw: usize, early: &'e EarlyBounds) -> Option<DrawBounds<'e>> {
        let replayed = &self.draws[draw];
        let test = self.depths.test(early, replayed)?;
        Some(DrawBounds { chunks: &self.bounds[replayed.chunks.clone()], test, dropped: &self.dropped })
    }

    /// Sets up the primitives of jobs, on all threads. The runs of the windows name deferred draws.
    ///
    /// # Errors
    /// [`DeviceLost`] when a program was interrupted.
    fn set_up(&self, gpu: &Gpu, jobs: &[Job], early: &EarlyBounds) -> Result<Vec<Window>, DeviceLost> {
        let results: Vec<Mutex<Option<Vec<Window>>>> = jobs.iter().map(|_| Mutex::default()).collect();
        let work = |front: &mut FrontScratch, number: usize| {
            let windows = self.set_up_job(gpu, front, &jobs[number], early);
            let goes_on = windows.is_some();
            *results[number].lock() = windows;
            goes_on
        };
        gpu.workers().parallel_while(jobs.len(), || gpu.fronts().acquire(), |front, number| work(front, number));
        let windows: Option<Vec<Vec<Window>>> = results.into_iter().map(Mutex::into_inner).collect();
        let windows = windows.ok_or(DeviceLost::TimedOut(PipelineStage::Vertex))?;
        Ok(windows.into_iter().flatten().collect())
    }

    /// Sets up the primitives of a job. Returns `None` if a program was interrupted.
    fn set_up_job(
        &self,
        gpu: &Gpu,
        front: &mut FrontScratch,
        job: &[DrawRange],
        early: &EarlyBounds,
    ) -> Option<Vec<Window>> {
        let (mut out, mut runs): (Vec<Triangles>, Vec<Runs>) = Default::default();
        for DrawRange { draw, range } in job {
            let bounds = self.bounds_of(*draw, early);
            let assembled = &self.draws[*draw].assembled;
            if !assembled.process_visible(front, range.clone(), bounds.as_ref(), &mut out) {
                return None;
            }
            runs.resize_with(out.len(), Runs::new);
            let id = DrawId { state: *draw as u32, sample: None };
            out.iter().zip(&mut runs).for_each(|(triangles, runs)| add_run(runs, triangles.len(), id));
        }
        let mut windows = Vec::with_capacity(out.len());
        for (triangles, runs) in out.into_iter().zip(runs) {
            if triangles.is_empty() {
                gpu.triangles().put(triangles);
                continue;
            }
            // The cull pipe has tested the primitives against newer bounds.
            let mut sorter = WindowSorter::new(&triangles, self.depths.grid, None, false);
            for run in &runs {
                let scissor = self.draws[run.draw.state as usize].deferred.fragment_area();
                sorter.add_run(&triangles, run.end, scissor, None);
            }
            windows.push(sorter.finish(triangles, runs));
        }
        Some(windows)
    }

    /// Queues windows for the tile pass. Their runs name deferred draws.
    fn queue(&self, context: &mut PassContext<'_>, windows: Vec<Window>) {
        let mut last: Option<(u32, DrawId)> = None;
        for mut window in windows {
            let runs = std::mem::take(&mut window.runs);
            for run in runs {
                let number = run.draw.state;
                let known = last.filter(|(deferred, _)| *deferred == number);
                let (_, draw) = known.unwrap_or_else(|| {
                    let ReplayedDraw { deferred, sample, .. } = &self.draws[number as usize];
                    context.pending.begin_command();
                    context.pending.sample = *sample;
                    (number, context.pending.draw(&deferred.job().fragments(), 0))
                });
                last = Some((number, draw));
                add_run(&mut window.runs, run.end as usize, draw);
            }
            context.pending.extend(window);
        }
    }

    /// Counts the results of the cull pipe.
    fn count_culled(&self, counters: &Counters) {
        let count = |counter, number: usize| counters.count(counter, number as u64);
        let known = || self.bounds.iter().filter_map(|bounds| bounds.get()?.as_ref());
        count(Counter::PoshDeferredDraws, self.draws.len());
        count(Counter::PoshLookaheadChunks, self.chunks.len());
        count(Counter::PoshLookaheadBytes, known().map(|bounds| bounds.bytes()).sum());
        count(Counter::PoshVertices, known().map(|bounds| bounds.vertices).sum());
        let [by_volume, by_facing] =
            [known().map(|bounds| bounds.by_volume).sum(), known().map(|bounds| bounds.by_facing).sum::<usize>()];
        count(Counter::PoshVolumeKills, by_volume);
        count(Counter::PoshFacingKills, by_facing);
        count(Counter::ClipInputs, by_volume + by_facing);
        count(Counter::ClipOutputs, by_facing);
    }
}
