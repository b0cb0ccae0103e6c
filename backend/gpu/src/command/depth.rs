//! Hi-Z structures of depth attachments.
//!
//! This module finds the structures of a subpass, and reports writes of memory that bypass them.
//! Such writes may also change blocks of compressed images, whose decoded texels are then out of
//! date.

use vitric_exec::Program;
use vitric_exec::bindings::Bindings;
use vitric_memory::{Addresses, Buffer};

use super::feedback::FeedbackState;
use super::pass::{ClearedDepth, Pass};
use super::pending::PendingDraws;
use super::{Command, CounterBuffer};
use crate::gpu::Gpu;
use crate::hiz::{Bytes, Hiz, HizCache};

/// Maximum number of tiles with Hi-Z structures in passes with several layers.
const MAX_TILES: usize = 1 << 14;

/// Finds the Hi-Z structures of a subpass, or of its current view.
pub(super) fn begin_subpass(gpu: &Gpu, pass: &Pass, pending: &mut PendingDraws) {
    let structures = gpu.depths();
    pass.implicit().for_each(|view| structures.wrote_surface(&view.surface));
    // Drops the bounds of other images that share memory with an attachment.
    pass.views().iter().for_each(|view| structures.wrote_knowingly(&view.surface));
    let view = pass.depth_view().filter(|_| pass.has_depth() && gpu.config().hiz != Hiz::Off);
    let Some(view) = view else { return pending.begin_depth(Vec::new(), 0) };
    let mut free_tiles = MAX_TILES.max(pending.grid().count());
    let mut depths = Vec::new();
    for layer in pass.depth_layers() {
        let depth = structures.of(view, layer);
        let room = free_tiles.checked_sub(depth.tiles());
        free_tiles = room.unwrap_or(0);
        if room.is_none() && layer != pass.depth_layers().start {
            // Draws to the remaining layers update no structure, so the kept bounds of the image
            // would become wrong.
            structures.wrote_surface(&view.surface);
            break;
        }
        if let Some(cleared) = pass.cleared_depth(layer) {
            depth.clear(pending.grid().area(), cleared);
        }
        depths.push(depth);
    }
    pending.begin_depth(depths, pass.depth_bits());
}

/// Reports writes of a subpass's attachments when the subpass ends.
pub(super) fn end_subpass(structures: &HizCache, pass: &Pass) {
    pass.views().iter().for_each(|view| structures.wrote_knowingly(&view.surface));
    let resolved = pass.subpass().depth_resolve.and_then(|resolve| pass.view(resolve.attachment));
    resolved.into_iter().chain(pass.replaced()).for_each(|view| structures.wrote_surface(&view.surface));
    // Writes of foreign memory by others are not reported.
    structures.wrote_any(|memory| memory.is_foreign());
}

/// Updates the Hi-Z structure for a clear of a layer's depths inside a pass.
pub(super) fn clear(pending: &PendingDraws, pass: &Pass, cleared: ClearedDepth) {
    let number = cleared.layer.checked_sub(pass.depth_layers().start);
    if let Some(structure) = number.and_then(|number| pending.depth(number as usize)) {
        structure.clear(cleared.area, cleared.depth);
    }
}

/// Reports that programs with side effects may write the memory bound to them. `addresses` is the
/// memory that programs access by address.
pub(super) fn written_by_programs<'p>(
    structures: &HizCache,
    programs: impl Iterator<Item = &'p Program> + Clone,
    bindings: &Bindings,
    addresses: &Addresses,
) {
    if structures.is_empty() || !programs.clone().any(|program| program.fragment.side_effects) {
        return;
    }
    bindings.for_each_memory(|memory, start, size| structures.wrote(&Bytes::new(memory, start, size)));
    if programs.clone().any(Program::stores_by_address) {
        structures.wrote_any(|memory| addresses.hold(memory));
    }
}

/// Reports the buffers that draws may write by transform feedback.
pub(super) fn written_by_feedback(structures: &HizCache, feedback: &FeedbackState) {
    if feedback.is_active() && !structures.is_empty() {
        feedback.buffers().for_each(|range| written_buffer(structures, &range.buffer));
    }
}

/// Reports the counter buffers that the end of transform feedback writes.
pub(super) fn written_counters(structures: &HizCache, counters: &[CounterBuffer]) {
    counters.iter().flatten().for_each(|(buffer, _)| written_buffer(structures, buffer));
}

/// Reports the memory that a command writes. The command is neither a draw nor a dispatch.
pub(super) fn written_by(structures: &HizCache, command: &Command) {
    if structures.is_empty() {
        return;
    }
    match command {
        Command::CopyBuffer { target, .. }
        | Command::CopyImageToBuffer { target, .. }
        | Command::UpdateBuffer { target, .. }
        | Command::FillBuffer { target, .. }
        | Command::CopyQueryPoolResults { target, .. } => written_buffer(structures, target),
        Command::CopyImage { target, .. }
        | Command::CopyBufferToImage { target, .. }
        | Command::CopyMemoryToImageIndirect { target, .. } => structures.copied_to(target),
        Command::BlitImage { target, .. }
        | Command::ClearColorImage { target, .. }
        | Command::ResolveImage { target, .. } => structures.wrote_surface(target),
        Command::ClearDepthStencilImage { target, value, ranges } => {
            structures.cleared(target, ranges, value.depth());
        }
        Command::BeginQuery { .. }
        | Command::EndQuery { .. }
        | Command::ResetQueryPool { .. }
        | Command::WriteTimestamp { .. } => {}
        // Unknown commands may write any memory. A new command that writes memory must be listed
        // here.
        _ => structures.forget(),
    }
}

fn written_buffer(structures: &HizCache, buffer: &Buffer) {
    if let Some((memory, start)) = buffer.binding() {
        structures.wrote(&Bytes::new(memory, start, buffer.size()));
    }
}
