//! Tile passes: the queued windows of a pass are rendered tile by tile.

use std::sync::atomic::AtomicBool;

use vitric_exec::bindings::Bindings;

use super::context::PassContext;
use super::pass::LoadClear;
use super::pending::Clears;
use super::pixel_state::PixelState;
use crate::gpu::{DeviceLost, GpuConfig, PipelineStage};
use crate::pixel::{self, Beside, DrawContext, PixelContext, TileClears, TilePass};
use crate::tiling::TileParts;

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
    if counters.is_some() {
        pending.visited.resize_with(grid.count_all(), AtomicBool::default);
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
        TileClears { planes, kept, done, all: clears_all }
    });
    let tile_pass = TilePass {
        grid: &grid,
        draws: &draws,
        windows: &queue.windows,
        parts: &TileParts::new(&queue.windows, &grid),
        clears: clears.as_ref(),
        depths: &pending.depths,
        scoreboard: drops && gpu.config().scoreboard,
        counters,
        processed: &pending.visited,
    };
    let done = pixel::run_tile_pass((gpu.workers(), gpu.tiles()), tile_pass, beside);
    queue.windows.into_iter().for_each(|window| gpu.triangles().put(window.triangles));
    queued_time.end_tiles(deadline, &suspended);
    if done { Ok(()) } else { Err(DeviceLost::TimedOut(PipelineStage::Fragment)) }
}
