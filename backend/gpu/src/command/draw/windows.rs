//! Windows of primitives: chunks of an assembled draw are set up, in order or on all threads, and
//! are queued for the tile pass.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::super::context::PassContext;
use super::super::pixel_state::FragmentState;
use super::super::tile_pass;
use super::super::viewports::fragment_area;
use crate::geometry::{Assembled, Captured, FrontScratch, Triangles};
use crate::gpu::{DeviceLost, Gpu, PipelineStage};
use crate::tiling::Window;

/// Maximum number of primitives of a chunk, which the front end processes for one window.
pub(super) const MAX_CHUNK: usize = 1 << 14;

/// Maximum number of primitives of a draw that the front end processes before a tile pass may run.
const MAX_AT_ONCE: usize = 1 << 15;

/// Minimum number of primitives for distributing a draw over threads.
const MIN_PARALLEL_PRIMITIVES: usize = 1 << 12;

/// A thread's share of a draw is a multiple of this number of primitives.
const SHARE_PRIMITIVES: usize = 1 << 10;

/// Maximum number of stippled lines, or polygons with stippled edges, that the front end processes
/// at once.
const MAX_STIPPLED: usize = 16;

/// A draw after primitive assembly, with the state that its fragments depend on.
#[derive(Clone, Copy)]
pub(super) struct AssembledDraw<'a> {
    pub(super) fragments: &'a FragmentState<'a>,
    pub(super) assembled: &'a Assembled<'a>,
}

impl AssembledDraw<'_> {
    /// Returns the maximum number of input primitives that are processed at once.
    ///
    /// Limits count output primitives. A line with a stipple becomes as many primitives as the
    /// pattern has parts.
    pub(super) fn max_at_once(&self) -> usize {
        let max = if self.fragments.pipeline.stipples_lines() { MAX_STIPPLED } else { MAX_AT_ONCE };
        self.assembled.whole_waves(max / self.assembled.amplification())
    }

    /// Returns true if chunks with this number of output primitives are set up on all threads.
    pub(super) fn is_parallel(&self, gpu: &Gpu, primitives: usize) -> bool {
        primitives >= MIN_PARALLEL_PRIMITIVES.min(max_chunk(gpu))
            && self.assembled.is_pure()
            && !self.fragments.pipeline.stipples_lines()
    }

    /// Returns the error of a draw that exceeded its time limit.
    pub(super) fn timed_out(&self) -> DeviceLost {
        DeviceLost::TimedOut(PipelineStage::before_rasterization(self.fragments.pipeline))
    }

    fn scissor(&self) -> [i64; 4] {
        let FragmentState { dynamic, pipeline, .. } = self.fragments;
        fragment_area(dynamic.first_viewport, pipeline)
    }
}

/// Chunks of a draw.
pub(super) struct Chunks<'a> {
    pub(super) count: usize,
    /// Approximate number of output primitives of all chunks.
    pub(super) primitives: usize,
    /// Sets up the primitives of a chunk, selected by number. Returns false if a program was
    /// interrupted.
    pub(super) set_up: &'a SetUp<'a>,
}

/// A function that sets up the primitives of a chunk.
type SetUp<'a> = dyn Fn(&mut FrontScratch, usize, &mut Vec<Triangles>) -> bool + Sync + 'a;

/// Returns the maximum number of primitives of a chunk, which is also the size of a full window.
///
/// The size of a batch does not affect chunks, because vertices are reused and culled by chunk.
pub(super) fn max_chunk(gpu: &Gpu) -> usize {
    gpu.config().chunk.min(MAX_CHUNK)
}

/// Adds the primitives of a draw to windows. Draws with many primitives use all threads. If the
/// queue is full, a tile pass runs at the same time.
///
/// # Errors
/// [`DeviceLost`] when a program was interrupted.
pub(super) fn add(context: &mut PassContext<'_>, draw: AssembledDraw<'_>) -> Result<(), DeviceLost> {
    let (gpu, assembled) = (context.gpu, draw.assembled);
    let (count, mut start) = (assembled.count(), 0);
    while start < count {
        // A geometry program's amplification follows the primitives that it has emitted so far.
        let amplification = assembled.amplification();
        let max_chunk = (max_chunk(gpu) / amplification).max(1);
        let range = start..count.min(start + draw.max_at_once().max(1));
        if start > 0 && assembled.source.environment.deadline.expired() {
            return Err(draw.timed_out());
        }
        start = range.end;
        let primitives = range.len().saturating_mul(amplification);
        let is_full = context.pending.is_full(primitives);
        if draw.is_parallel(gpu, primitives) {
            // Distributes the primitives over all threads.
            let share = range.len().div_ceil(gpu.config().threads);
            let size = max_chunk.min(share.next_multiple_of(SHARE_PRIMITIVES.div_ceil(amplification)));
            let size = assembled.whole_waves(size);
            let set_up = |front: &mut FrontScratch, index: usize, out: &mut Vec<Triangles>| {
                let start = range.start + index * size;
                assembled.process(front, start..range.end.min(start + size), out)
            };
            let chunks = Chunks { count: range.len().div_ceil(size), primitives, set_up: &set_up };
            add_in_parallel(context, draw, chunks, is_full)?;
            continue;
        }
        if is_full {
            tile_pass::run_beside(context, tile_pass::NO_WORK)?;
        }
        add_in_order(context, draw, primitives, |front, out| assembled.process(front, range, out))?;
    }
    Ok(())
}

/// Adds primitives of a draw that `set_up` sets up to windows, behind all earlier primitives.
/// `primitives` is their approximate number.
///
/// # Errors
/// [`DeviceLost`] when a program was interrupted.
pub(super) fn add_in_order(
    context: &mut PassContext<'_>,
    draw: AssembledDraw<'_>,
    primitives: usize,
    set_up: impl FnOnce(&mut FrontScratch, &mut Vec<Triangles>) -> bool,
) -> Result<(), DeviceLost> {
    let AssembledDraw { fragments, assembled } = draw;
    let done = if fragments.pipeline.last().routes() {
        let mut triangles = Vec::new();
        let done = set_up(context.front, &mut triangles);
        let (grid, scissor) = (*context.pending.grid(), draw.scissor());
        let bounds = context.pending.take_early_bounds(fragments, primitives);
        let filled = triangles.into_iter().filter(|triangles| !triangles.is_empty());
        let windows = filled.map(|triangles| Window::new(triangles, &grid, scissor, &bounds.tests()));
        let windows: Vec<_> = windows.collect();
        context.pending.return_early_bounds(bounds, windows.last());
        context.pending.extend_layers(fragments, windows.into_iter());
        done
    } else {
        let number = context.pending.draw(fragments, 0);
        let mut open = context.pending.open(number, primitives);
        let done = set_up(context.front, &mut open);
        context.pending.close_full(number, open, max_chunk(context.gpu));
        done
    };
    if !done {
        return Err(draw.timed_out());
    }
    if let Some(plan) = assembled.captures {
        let captured = std::mem::take(&mut context.front.captured);
        context.write_captured(plan, &captured);
    }
    Ok(())
}

/// Adds chunks of a draw to windows, on all threads. With `is_full`, a tile pass runs at the same
/// time.
///
/// # Errors
/// [`DeviceLost`] when a program was interrupted.
pub(super) fn add_in_parallel(
    context: &mut PassContext<'_>,
    draw: AssembledDraw<'_>,
    chunks: Chunks<'_>,
    is_full: bool,
) -> Result<(), DeviceLost> {
    let AssembledDraw { fragments, assembled } = draw;
    let Chunks { count, primitives, set_up } = chunks;
    let results: Vec<Mutex<(Vec<Window>, Captured)>> = (0..count).map(|_| Mutex::default()).collect();
    let (grid, scissor) = (*context.pending.grid(), draw.scissor());
    // Tests beside the tile pass use the bounds before it, to which the queued draws have added.
    let bounds = context.pending.take_early_bounds(fragments, primitives);
    let (gpu, ok) = (context.gpu, AtomicBool::new(true));
    let set_up_chunk = |index: usize| {
        let mut triangles = Vec::new();
        let mut front = gpu.fronts().acquire();
        if !ok.load(Ordering::Relaxed) || !set_up(&mut front, index, &mut triangles) {
            ok.store(false, Ordering::Relaxed);
        }
        let captured = std::mem::take(&mut front.captured);
        let (filled, empty): (Vec<_>, Vec<_>) = triangles.into_iter().partition(|triangles| !triangles.is_empty());
        empty.into_iter().for_each(|triangles| gpu.triangles().put(triangles));
        let windows = filled.into_iter().map(|triangles| Window::new(triangles, &grid, scissor, &bounds.tests()));
        *results[index].lock() = (windows.collect(), captured);
    };
    if is_full {
        tile_pass::run_beside(context, (count, &set_up_chunk))?;
    } else {
        gpu.workers().parallel(count, || (), |(), index| set_up_chunk(index));
    }
    if !ok.into_inner() {
        return Err(draw.timed_out());
    }
    let results: Vec<_> = results.into_iter().map(Mutex::into_inner).collect();
    context.pending.return_early_bounds(bounds, results.iter().flat_map(|(windows, _)| windows).last());
    for (windows, captured) in results {
        context.pending.extend_layers(fragments, windows.into_iter());
        if let Some(plan) = assembled.captures {
            context.write_captured(plan, &captured);
        }
    }
    Ok(())
}
