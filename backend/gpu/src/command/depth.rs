//! Visibility structures of depth attachments.
//!
//! This module finds the structures of a subpass, and reports writes of memory that bypass them.
//! Such writes may also change blocks of compressed images, whose decoded texels are then out of
//! date.

use vitric_exec::Program;
use vitric_exec::bindings::Bindings;
use vitric_memory::Buffer;

use super::Command;
use super::pass::Pass;
use super::processor::Processor;
use crate::hiz::{Bytes, Hiz, HizCache};

/// Maximum number of tiles with visibility structures in passes with several layers.
const MAX_TILES: usize = 1 << 14;

impl Processor<'_> {
    /// Finds the visibility structures of a subpass, or of its current view.
    pub(super) fn begin_depth(&mut self, pass: &Pass) {
        let kept = self.gpu.depths();
        pass.implicit().for_each(|view| kept.wrote_surface(&view.surface));
        // Drops the bounds of other images that share memory with an attachment.
        pass.views().iter().for_each(|view| kept.wrote_knowingly(&view.surface));
        let view = pass.depth_view().filter(|_| pass.has_depth() && self.gpu.config().hiz != Hiz::Off);
        let Some(view) = view else { return self.pending.begin_depth(Vec::new(), 0) };
        let mut left = MAX_TILES.max(self.pending.grid().count());
        let mut depths = Vec::new();
        for layer in pass.depth_layers() {
            let depth = kept.of(view, layer);
            let room = left.checked_sub(depth.tiles());
            left = room.unwrap_or(0);
            if room.is_none() && layer != pass.depth_layers().start {
                // Draws to the remaining layers update no structure, so the kept bounds of the
                // image would become wrong.
                kept.wrote_surface(&view.surface);
                break;
            }
            if let Some(cleared) = pass.cleared_depth(layer) {
                depth.clear(self.pending.grid().area(), cleared);
            }
            depths.push(depth);
        }
        self.pending.begin_depth(depths, pass.depth_bits());
    }

    /// Ends a subpass: reports writes of its attachments.
    pub(super) fn end_depth(&self, pass: &Pass) {
        let kept = self.gpu.depths();
        pass.views().iter().for_each(|view| kept.wrote_knowingly(&view.surface));
        let resolved = pass.subpass().depth_resolve.and_then(|resolve| pass.view(resolve.attachment));
        resolved.into_iter().chain(pass.replaced()).for_each(|view| kept.wrote_surface(&view.surface));
        // Writes of foreign memory by others are not reported.
        kept.wrote_any(|memory| memory.is_foreign());
    }

    /// Updates the visibility structure for a clear of a layer's depths inside a pass.
    pub(super) fn clear_depth(&self, pass: &Pass, layer: u32, area: [i64; 4], depth: f32) {
        let number = layer.checked_sub(pass.depth_layers().start);
        if let Some(kept) = number.and_then(|number| self.pending.depth(number as usize)) {
            kept.clear(area, depth);
        }
    }

    /// Reports that programs with side effects may write the memory bound to them.
    pub(super) fn wrote_bound<'p>(&self, programs: impl Iterator<Item = &'p Program> + Clone, bindings: &Bindings) {
        let kept = self.gpu.depths();
        if kept.is_empty() || !programs.clone().any(|program| program.fragment.side_effects) {
            return;
        }
        bindings.for_each_memory(|memory, start, size| kept.wrote(&Bytes::new(memory, start, size)));
        if programs.clone().any(Program::stores_by_address) {
            kept.wrote_any(|memory| self.shared.addresses.hold(memory));
        }
    }
}

/// Reports the memory that a command writes. The command is neither a draw nor a dispatch.
pub(super) fn written_by(kept: &HizCache, command: &Command) {
    if kept.is_empty() {
        return;
    }
    match command {
        Command::CopyBuffer { target, .. }
        | Command::CopyImageToBuffer { target, .. }
        | Command::UpdateBuffer { target, .. }
        | Command::FillBuffer { target, .. }
        | Command::CopyQueryPoolResults { target, .. } => wrote_buffer(kept, target),
        Command::CopyImage { target, .. } | Command::CopyBufferToImage { target, .. } => kept.copied_to(target),
        Command::BlitImage { target, .. }
        | Command::ClearColorImage { target, .. }
        | Command::ResolveImage { target, .. } => kept.wrote_surface(target),
        Command::ClearDepthStencilImage { target, value, ranges } => {
            kept.cleared(target, ranges, value.depth());
        }
        Command::BeginQuery { .. }
        | Command::EndQuery { .. }
        | Command::ResetQueryPool { .. }
        | Command::WriteTimestamp { .. } => {}
        // Unknown commands may write any memory. A new command that writes memory must be listed
        // here.
        _ => kept.forget(),
    }
}

pub(super) fn wrote_buffer(kept: &HizCache, buffer: &Buffer) {
    if let Some((memory, start)) = buffer.binding() {
        kept.wrote(&Bytes::new(memory, start, buffer.size()));
    }
}
