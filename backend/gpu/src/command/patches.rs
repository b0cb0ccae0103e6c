//! Draws of patches.
//!
//! Control programs run for a batch of patches. The tessellation levels give the exact number of
//! primitives, so the patches can be split into chunks that become windows.

use parking_lot::Mutex;

use super::draw::{MANY, MAX_PRIMITIVES, MAX_STIPPLED, in_order, in_parallel};
use super::pending::{FragmentState, MAX_PENDING};
use super::processor::Processor;
use crate::geometry::tessellation::{PatchChunk, Patches};
use crate::geometry::{Assembled, FrontScratch, Triangles};
use crate::gpu::{DeviceLost, Stage};
use crate::state::Subdivision;

/// Number of patch memories: the maximum number of parts whose patches are queued for subdivision.
/// The number does not depend on the number of threads, so that programs with side effects run in
/// one order.
const PARTS: usize = 16;

/// Minimum number of patches for running control programs on all threads. For fewer patches,
/// distribution takes longer than the programs.
const MANY_PATCHES: usize = 64;

/// A chunk of patches, with the index of the memory that holds the patches.
type Numbered = (usize, PatchChunk);

/// Converts the patches of a draw to windows of primitives.
pub(super) fn windows(
    processor: &mut Processor<'_>,
    drawn: &FragmentState<'_>,
    assembled: &Assembled<'_>,
) -> Result<(), DeviceLost> {
    let Some((_, subdivision)) = &assembled.patches else { return Ok(()) };
    let mut parts = assembled.patch_parts().peekable();
    let mut memories: Vec<Mutex<Patches>> = Vec::new();
    memories.resize_with(PARTS, Mutex::default);
    while parts.peek().is_some() {
        let some: Vec<_> = parts.by_ref().take(memories.len()).collect();
        let count = some.len();
        let control = |front: &mut FrontScratch, index: usize| {
            assembled.control(front, some[index].clone(), &mut memories[index].lock())
        };
        let is_many = some.iter().map(|range| range.primitives.len()).sum::<usize>() >= MANY_PATCHES;
        if !for_each(processor, count, is_many && assembled.is_pure(), &control) {
            return Err(DeviceLost::TimedOut(Stage::before_rasterization(drawn.pipeline)));
        }
        subdivide(processor, (drawn, assembled), (&mut memories[..count], subdivision))?;
    }
    Ok(())
}

/// Calls `work` for all numbers below `count`, on all threads if `in_parallel`. Returns false if a
/// call failed.
fn for_each(
    processor: &mut Processor<'_>,
    count: usize,
    in_parallel: bool,
    work: &(dyn Fn(&mut FrontScratch, usize) -> bool + Sync),
) -> bool {
    if !in_parallel || count < 2 {
        return (0..count).all(|index| work(&mut processor.front, index));
    }
    let (gpu, ok) = (processor.gpu, std::sync::atomic::AtomicBool::new(true));
    let worker = || gpu.fronts().acquire();
    gpu.workers().parallel(count, worker, |front, index| {
        if !work(front, index) {
            ok.store(false, std::sync::atomic::Ordering::Relaxed);
        }
    });
    ok.into_inner()
}

/// Converts patches to windows after their control program has run.
fn subdivide(
    processor: &mut Processor<'_>,
    (drawn, assembled): (&FragmentState<'_>, &Assembled<'_>),
    (memories, subdivision): (&mut [Mutex<Patches>], &Subdivision),
) -> Result<(), DeviceLost> {
    let is_stippled = drawn.pipeline.stipples_lines();
    // A line with a stipple becomes as many primitives as the pattern has parts.
    let most = if is_stippled { MAX_STIPPLED } else { MAX_PENDING } / assembled.amplification();
    // Programs with side effects run in the same waves for every size of windows.
    let window = if assembled.is_pure() { processor.gpu.config().window } else { MAX_PRIMITIVES };
    let size = window.min(MAX_PRIMITIVES) / assembled.amplification();
    let patches: Vec<&Patches> = memories.iter_mut().map(|memory| &*memory.get_mut()).collect();
    let pieces = patches.iter().enumerate().flat_map(|(number, patches)| {
        let pieces = patches.chunks(subdivision, (size.min(most), most.max(1)));
        pieces.into_iter().map(move |piece| (number, piece))
    });
    let (mut some, mut count): (Vec<Numbered>, usize) = (Vec::new(), 0);
    for piece in pieces {
        if !some.is_empty() && count + piece.1.primitives > most {
            set_up(processor, (drawn, assembled), &patches, &some)?;
            some.clear();
            count = 0;
        }
        count += piece.1.primitives;
        some.push(piece);
    }
    set_up(processor, (drawn, assembled), &patches, &some)
}

/// Converts chunks to windows. Their primitives fit in the queue of the tile pass.
fn set_up(
    processor: &mut Processor<'_>,
    (drawn, assembled): (&FragmentState<'_>, &Assembled<'_>),
    patches: &[&Patches],
    pieces: &[Numbered],
) -> Result<(), DeviceLost> {
    if pieces.is_empty() {
        return Ok(());
    }
    if assembled.source.environment.deadline.expired() {
        return Err(DeviceLost::TimedOut(Stage::before_rasterization(drawn.pipeline)));
    }
    let size = processor.gpu.config().window.min(MAX_PRIMITIVES);
    let primitives = pieces.iter().map(|(_, piece)| piece.primitives).sum::<usize>() * assembled.amplification();
    let is_full = processor.pending.is_full(primitives);
    let work = |front: &mut FrontScratch, number: usize, out: &mut Vec<Triangles>| {
        let (memory, piece) = &pieces[number];
        assembled.process_patches(front, (patches[*memory], piece), out)
    };
    let is_many = primitives >= MANY.min(size) && pieces.len() > 1;
    if is_many && assembled.is_pure() && !drawn.pipeline.stipples_lines() {
        return in_parallel(processor, (drawn, assembled.captures), (pieces.len(), &work), is_full);
    }
    if is_full {
        processor.flush_beside((0, &|_| ()))?;
    }
    let all =
        |front: &mut FrontScratch, out: &mut Vec<Triangles>| (0..pieces.len()).all(|number| work(front, number, out));
    in_order(processor, (drawn, assembled.captures), (size, primitives), all)
}
