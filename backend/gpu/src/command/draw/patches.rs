//! Draws of patches.
//!
//! Control programs run for a batch of patches. The tessellation levels give the exact number of
//! primitives, so the patches can be split into chunks that become windows.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::super::context::PassContext;
use super::super::tile_pass;
use super::windows::{AssembledDraw, Chunks, MAX_CHUNK, add_in_order, add_in_parallel, max_chunk};
use crate::geometry::tessellation::{PatchChunk, Patches};
use crate::geometry::{FrontScratch, Triangles};
use crate::gpu::DeviceLost;
use crate::state::Subdivision;

/// Number of patch memories: the maximum number of batches whose patches are queued for
/// subdivision. The number does not depend on the number of threads, so that programs with side
/// effects run in one order.
const MEMORIES: usize = 16;

/// Minimum number of patches for running control programs on all threads. For fewer patches,
/// distribution takes longer than the programs.
const MIN_PARALLEL_PATCHES: usize = 64;

/// A chunk of patches.
struct Chunk {
    /// Number of the memory that holds the patches.
    memory: usize,
    piece: PatchChunk,
}

/// Adds the primitives of a draw of patches to windows.
///
/// # Errors
/// [`DeviceLost`] when a program was interrupted.
pub(super) fn add(context: &mut PassContext<'_>, draw: AssembledDraw<'_>) -> Result<(), DeviceLost> {
    let assembled = draw.assembled;
    let Some((_, subdivision)) = &assembled.patches else { return Ok(()) };
    let mut batches = assembled.patch_parts().peekable();
    let mut memories: Vec<Mutex<Patches>> = Vec::new();
    memories.resize_with(MEMORIES, Mutex::default);
    while batches.peek().is_some() {
        let batches: Vec<_> = batches.by_ref().take(memories.len()).collect();
        let count = batches.len();
        let control = |front: &mut FrontScratch, index: usize| {
            assembled.control(front, batches[index].clone(), &mut memories[index].lock())
        };
        let patches = batches.iter().map(|range| range.primitives.len()).sum::<usize>();
        let is_parallel = patches >= MIN_PARALLEL_PATCHES && assembled.is_pure();
        if !for_each(context, count, is_parallel, &control) {
            return Err(draw.timed_out());
        }
        subdivide(context, draw, &mut memories[..count], subdivision)?;
    }
    Ok(())
}

/// Calls `work` for all numbers below `count`, on all threads if `is_parallel`. Returns false if a
/// call failed.
fn for_each(
    context: &mut PassContext<'_>,
    count: usize,
    is_parallel: bool,
    work: &(dyn Fn(&mut FrontScratch, usize) -> bool + Sync),
) -> bool {
    if !is_parallel || count < 2 {
        return (0..count).all(|index| work(context.front, index));
    }
    let (gpu, ok) = (context.gpu, AtomicBool::new(true));
    let front = || gpu.fronts().acquire();
    gpu.workers().parallel(count, front, |front, index| {
        if !work(front, index) {
            ok.store(false, Ordering::Relaxed);
        }
    });
    ok.into_inner()
}

/// Adds the primitives of patches to windows after their control program has run.
fn subdivide(
    context: &mut PassContext<'_>,
    draw: AssembledDraw<'_>,
    memories: &mut [Mutex<Patches>],
    subdivision: &Subdivision,
) -> Result<(), DeviceLost> {
    let (assembled, max_at_once) = (draw.assembled, draw.max_at_once());
    // Programs with side effects run in the same waves for every size of chunks.
    let max_chunk = if assembled.is_pure() { max_chunk(context.gpu) } else { MAX_CHUNK };
    let max_chunk = (max_chunk / assembled.amplification()).min(max_at_once);
    let patches: Vec<&Patches> = memories.iter_mut().map(|memory| &*memory.get_mut()).collect();
    let chunks = patches.iter().enumerate().flat_map(|(memory, patches)| {
        let pieces = patches.chunks(subdivision, (max_chunk, max_at_once.max(1)));
        pieces.into_iter().map(move |piece| Chunk { memory, piece })
    });
    let (mut batch, mut count): (Vec<Chunk>, usize) = (Vec::new(), 0);
    for chunk in chunks {
        if !batch.is_empty() && count + chunk.piece.primitives > max_at_once {
            set_up(context, draw, &patches, &batch)?;
            batch.clear();
            count = 0;
        }
        count += chunk.piece.primitives;
        batch.push(chunk);
    }
    set_up(context, draw, &patches, &batch)
}

/// Adds the primitives of chunks to windows. They fit in the queue of the tile pass.
fn set_up(
    context: &mut PassContext<'_>,
    draw: AssembledDraw<'_>,
    patches: &[&Patches],
    chunks: &[Chunk],
) -> Result<(), DeviceLost> {
    if chunks.is_empty() {
        return Ok(());
    }
    let assembled = draw.assembled;
    if assembled.source.environment.deadline.expired() {
        return Err(draw.timed_out());
    }
    let primitives = chunks.iter().map(|chunk| chunk.piece.primitives).sum::<usize>() * assembled.amplification();
    let is_full = context.pending.is_full(primitives);
    let set_up = |front: &mut FrontScratch, number: usize, out: &mut Vec<Triangles>| {
        let Chunk { memory, piece } = &chunks[number];
        assembled.process_patches(front, (patches[*memory], piece), out)
    };
    if chunks.len() > 1 && draw.is_parallel(context.gpu, primitives) {
        return add_in_parallel(context, draw, Chunks { count: chunks.len(), primitives, set_up: &set_up }, is_full);
    }
    if is_full {
        tile_pass::run_beside(context, tile_pass::NO_WORK)?;
    }
    add_in_order(context, draw, primitives, |front, out| (0..chunks.len()).all(|number| set_up(front, number, out)))
}
