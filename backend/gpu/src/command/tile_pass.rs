//! Tile passes: the queued windows of a pass are rendered tile by tile.

use std::sync::atomic::AtomicU32;

use vitric_base::counters::{Counter, Counters};
use vitric_exec::bindings::Bindings;

use super::context::PassContext;
use super::pass::LoadClear;
use super::pending::Clears;
use super::pixel_state::PixelState;
use crate::gpu::{DeviceLost, GpuConfig, PipelineStage};
use crate::pixel::{self, Beside, DrawContext, PixelContext, ProcessedTiles, TileClears, TilePass};
use crate::tiling::{Batch, TestCounts, TileParts, Window};

/// Work that does nothing beside a tile pass.
pub(super) const NO_WORK: Beside<'static> = (0, &|_| ());

/// Runs a tile pass for all queued draws, and clears tiles that nothing was drawn to. The
/// attachments then contain the results of all earlier commands, except deferred draws.
///
/// # Errors
/// [`DeviceLost`] when a program was interrupted.
pub(super) fn finish(context: &mut PassContext<'_>) -> Result<(), DeviceLost> {
    if context.pending.is_idle() {
        return Ok(());
    }
    let clears_all = context.pending.clears.is_some();
    run(context, clears_all, NO_WORK)?;
    context.pending.clears = None;
    Ok(())
}

/// Runs a tile pass for all queued draws, concurrently with other work.
///
/// # Errors
/// [`DeviceLost`] when a program was interrupted.
pub(super) fn run_beside(context: &mut PassContext<'_>, beside: Beside<'_>) -> Result<(), DeviceLost> {
    run(context, false, beside)
}

/// Ends a draw. Without tile-based rendering, a tile pass for it runs before the next draw.
///
/// # Errors
/// [`DeviceLost`] when a program was interrupted.
pub(super) fn end_draw(context: &mut PassContext<'_>) -> Result<(), DeviceLost> {
    if context.gpu.config().tbimr { Ok(()) } else { run_beside(context, NO_WORK) }
}

/// Runs a tile pass over the tiles of queued draws. With `clears_all`, it also covers tiles that
/// were not cleared.
fn run(context: &mut PassContext<'_>, clears_all: bool, beside: Beside<'_>) -> Result<(), DeviceLost> {
    let PassContext { gpu, pass, pending, deadline, queued_time, queries, .. } = context;
    let (queue, grid) = (pending.take(), *pending.grid());
    if queue.windows.is_empty() && beside.0 == 0 && !clears_all {
        return Ok(());
    }
    let suspended = queued_time.begin_tiles(deadline);
    let counters = queries.counters().map(|counters| &**counters);
    if let Some(counters) = counters {
        count_windows(counters, &queue.windows);
        pixel::mark_early_kills(&queue.windows, &grid, counters);
        pending.processed.resize_with(grid.count_all(), AtomicU32::default);
    }
    let (no_bindings, occlusion) = (Bindings::default(), queries.occlusion.counter());
    let GpuConfig { packs_always, coverage, .. } = *gpu.config();
    // Pipeline statistics also count fragments that later draws hide.
    let drops = queries.statistics.counters().is_none();
    // A single state has the time of all queued commands.
    let several = queue.pixels.iter().filter(|_| queue.pixels.len() > 1);
    let deadlines: Vec<_> = several.map(|state| deadline.part(state.commands)).collect();
    let pixel_context = |(number, state)| {
        let deadline = deadlines.get(number).unwrap_or(&***deadline);
        let state: &PixelState = state;
        PixelContext { drops, coverage, ..state.context(pass, deadline, occlusion) }.complete(packs_always)
    };
    let pixels: Vec<_> = queue.pixels.iter().enumerate().map(pixel_context).collect();
    let draw_contexts = queue.draws.iter().map(|draw| DrawContext {
        pixel: &pixels[draw.pixel],
        bindings: draw.bindings.as_deref().unwrap_or(&no_bindings),
        push: draw.push.map_or(&[], |push| &queue.push_constants[push]),
    });
    let draws: Vec<_> = draw_contexts.collect();
    let clears = pending.clears.as_ref().map(|Clears { attachments, done }| {
        let planes = attachments.iter().flat_map(LoadClear::planes).collect();
        let kept = attachments.iter().flat_map(LoadClear::kept_planes).collect();
        TileClears { planes, kept, done }
    });
    let processed = counters.map(|_| ProcessedTiles {
        last: &pending.processed,
        subpass: pass.subpass_number(),
        undefined: pass.undefined_planes().collect(),
    });
    let batches = Batch::divide(&queue.windows, pending.limit());
    let last = batches.len() - 1;
    let done = (0..).zip(&batches).all(|(number, batch)| {
        let (parts, is_last) = (TileParts::new(&queue.windows, &grid, batch), number == last);
        let tile_pass = TilePass {
            grid: &grid,
            draws: &draws,
            windows: &queue.windows,
            parts: &parts,
            clears: clears.as_ref(),
            clears_all: clears_all && is_last,
            depths: &pending.depths,
            scoreboard: drops && gpu.config().scoreboard,
            counters,
            processed: processed.as_ref(),
        };
        pixel::run_tile_pass((gpu.workers(), gpu.tiles()), tile_pass, if is_last { beside } else { NO_WORK })
    });
    queue.windows.into_iter().for_each(|window| gpu.triangles().put(window.triangles));
    queued_time.end_tiles(deadline, &suspended);
    if done { Ok(()) } else { Err(DeviceLost::TimedOut(PipelineStage::Fragment)) }
}

/// Counts windows, their primitives, and the tests by which they were sorted.
fn count_windows(counters: &Counters, windows: &[Window]) {
    let sum = |count: fn(&TestCounts) -> u32| windows.iter().map(|window| u64::from(count(&window.tests))).sum();
    counters.count(Counter::Windows, windows.len() as u64);
    counters.count(Counter::TilesConservative, sum(|tests| tests.evaluated));
    counters.count(Counter::TilesTouched, sum(|tests| tests.touched));
    counters.count(Counter::HizEarlyBlockQueries, sum(|tests| tests.block_queries));
    counters.count(Counter::HizEarlyBlockKills, sum(|tests| tests.block_kills));
    counters.count(Counter::HizEarlyQueries, sum(|tests| tests.queries));
    counters.count(Counter::HizEarlyKills, sum(|tests| tests.kills));
    counters.count(Counter::HizEarlyGroupKills, sum(|tests| tests.group_kills));
    for (run, kills) in windows.iter().flat_map(|window| window.runs.iter().zip(&window.run_kills)) {
        if let Some(sample) = run.draw.sample.filter(|_| *kills > 0) {
            counters.assign_early_kills(sample, (*kills).into());
        }
    }
    counters.count(Counter::Primitives, windows.iter().map(|window| window.triangles.len() as u64).sum());
}
