//! Images that commands use: they must be resident in near memory until the submission ends.
//!
//! Images in descriptors are found when sets are resolved (`sets.rs`). Buffers are never
//! compacted. Every command that refers to an image must be handled here. Passes and transitions
//! also report which contents may be discarded, and which images are only read from then on.

use ash::vk::{AttachmentLoadOp as Load, Extent3D, ImageType, Rect2D};
use vitric_format as format;
use vitric_memory::{Hint, ImageAccess, InUse, SurfaceView};

use super::pass::{LoadClear, Pass};
use super::pending::PendingDraws;
use super::{Command, PassBegin};
use crate::transfer;

/// Marks the attachments of a pass as in use when the pass begins.
///
/// Attachments that the pass clears completely need not be restored. They are marked last, because
/// other attachments may share their memory.
pub(super) fn use_attachments(in_use: &InUse<'_>, begin: &PassBegin) {
    let (overwritten, kept): (Vec<_>, Vec<_>) = (0..begin.views.len()).partition(|&number| overwrites(begin, number));
    let begin_use = |access| move |number: usize| begin.views[number].begin_use(in_use, access);
    kept.into_iter().for_each(begin_use(ImageAccess::Write));
    overwritten.into_iter().for_each(begin_use(ImageAccess::Overwrite));
}

/// Records clears when a pass ends, instead of writing them: of whole images if nothing was drawn
/// to any tile, otherwise of the tiles that nothing was drawn to.
pub(super) fn record_clears(in_use: &InUse<'_>, pass: &Pass, pending: &mut PendingDraws) {
    let can_record = |clear: &LoadClear| !pass.is_resolved(clear.attachment()) && covers(pass.area, clear.view());
    pending.record_clears(|clear| {
        if can_record(clear) {
            clear.record(in_use);
        }
    });
    pending.record_undrawn_tiles(
        |clear| !pass.has_views() && can_record(clear) && clear.is_kept() && clear.view().surface.notes_tiles(),
        |clear, tiles| clear.record_tiles(in_use, tiles),
    );
}

/// Reports the attachments whose contents are discarded when a pass ends, and those that their
/// final layout makes read-only.
pub(super) fn hint_attachments(in_use: &InUse<'_>, pass: &Pass) {
    for (number, desc) in pass.desc().attachments.iter().enumerate() {
        let Some(view) = pass.application_view(number as u32) else { continue };
        let is_discarded = !pass.has_views() && pass.discards(number, desc, view) && covers(pass.area, view);
        let hint = if is_discarded { Some(Hint::Lost) } else { Hint::of_layout(desc.final_layout) };
        hint.into_iter().for_each(|hint| view.surface.hint(in_use, hint));
    }
}

/// Marks the images of a command as in use, if the command is neither a draw nor a dispatch.
pub(super) fn use_images(in_use: &InUse<'_>, command: &Command) {
    match command {
        Command::BlitImage { source, target, .. } | Command::ResolveImage { source, target, .. } => {
            source.begin_use(in_use, ImageAccess::Read);
            target.begin_use(in_use, ImageAccess::Write);
        }
        // Images of copies may stay compacted, see `transfer`.
        Command::ClearColorImage { target, ranges, .. } | Command::ClearDepthStencilImage { target, ranges, .. } => {
            let clears_all = transfer::clears_all(target, ranges);
            target.begin_use(in_use, if clears_all { ImageAccess::Overwrite } else { ImageAccess::Write });
        }
        _ => {}
    }
}

/// Returns true if a pass begins with a clear of all texels of an attachment, or with undefined
/// contents.
fn overwrites(begin: &PassBegin, number: usize) -> bool {
    let (pass, view) = (&*begin.pass, &*begin.views[number]);
    let (Some(desc), Some(first)) = (pass.attachments.get(number), pass.subpasses.first()) else { return false };
    let Some(info) = format::info(view.surface.desc().format) else { return false };
    let load = if info.stencil { desc.stencil_load } else { desc.load };
    let is_undefined = [Load::CLEAR, Load::DONT_CARE].contains(&load);
    // A pass may render depth without using the stencil in the same image. The stencil is then
    // kept.
    let is_one = !info.is_planar() && info.planes().count() == 1;
    let is_used = first.attachments().any(|used| used as usize == number);
    is_undefined && is_one && first.view_mask == 0 && is_used && covers(begin.area, view)
}

/// Returns true if an area covers a view that shows all of its surface.
fn covers(area: Rect2D, view: &SurfaceView) -> bool {
    let surface = view.surface.desc();
    let Extent3D { width, height, .. } = surface.extent;
    let is_covered =
        (area.offset.x, area.offset.y) == (0, 0) && (area.extent.width, area.extent.height) == (width, height);
    let is_flat = surface.kind == ImageType::TYPE_2D && surface.levels == 1 && surface.layers == 1;
    is_covered && is_flat && view.desc.layers == 1
}
