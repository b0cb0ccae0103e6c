//! Which images commands use: they must not be at rest in near memory (`memory/rest`) from then on until the submission ends.
//!
//! Images that descriptors name are found when sets are resolved (`sets.rs`); buffers never rest. Whoever adds a command that names an
//! image says so here.

use std::sync::Arc;

use ash::vk::{AttachmentLoadOp as Load, Extent3D, ImageType};

use super::processor::Processor;
use super::{Command, PassBegin};
use crate::format;
use crate::memory::{Surface, SurfaceView};

impl Processor<'_> {
    fn begin_use(&self, surface: &Surface, overwritten: bool) {
        if let Some(in_use) = &self.shared.in_use {
            surface.begin_use(in_use, overwritten);
        }
    }

    /// A pass begins. What it clears as a whole need not be had back; others come first, which may lie in the same memory.
    pub(super) fn use_attachments(&self, begin: &PassBegin) {
        if self.shared.in_use.is_none() {
            return;
        }
        let (lost, kept): (Vec<_>, Vec<_>) = (0..begin.views.len()).partition(|&number| overwrites(begin, number));
        kept.into_iter().for_each(|number| self.begin_use(&begin.views[number].surface, false));
        lost.into_iter().for_each(|number| self.begin_use(&begin.views[number].surface, true));
    }

    /// A command is executed that is no draw and no dispatch.
    pub(super) fn use_named(&self, command: &Command) {
        let uses = |surfaces: &[&Arc<Surface>]| surfaces.iter().for_each(|surface| self.begin_use(surface, false));
        match command {
            Command::CopyImage { source, target, .. }
            | Command::BlitImage { source, target, .. }
            | Command::ResolveImage { source, target, .. } => uses(&[source, target]),
            Command::CopyImageToBuffer { source, .. } => uses(&[source]),
            Command::CopyBufferToImage { target, .. }
            | Command::ClearColorImage { target, .. }
            | Command::ClearDepthStencilImage { target, .. } => uses(&[target]),
            _ => {}
        }
    }
}

/// Whether a pass begins with all texels of an attachment being cleared, or anything.
fn overwrites(begin: &PassBegin, number: usize) -> bool {
    let (pass, view) = (&*begin.pass, &*begin.views[number]);
    let (Some(desc), Some(first)) = (pass.attachments.get(number), pass.subpasses.first()) else { return false };
    let is_lost = [Load::CLEAR, Load::DONT_CARE].contains(&desc.load);
    is_lost && first.view_mask == 0 && first.attachments().any(|used| used as usize == number) && is_whole(begin, view)
}

/// Whether a pass covers a view that shows all of its surface, of one aspect.
fn is_whole(begin: &PassBegin, view: &SurfaceView) -> bool {
    let surface = view.surface.desc();
    // Depth may be rendered without the stencil beside it, which then stays as it is.
    let is_one = format::info(surface.format).is_some_and(|info| !info.is_planar() && info.planes().count() == 1);
    let (area, Extent3D { width, height, .. }) = (begin.area, surface.extent);
    let is_covered =
        (area.offset.x, area.offset.y) == (0, 0) && (area.extent.width, area.extent.height) == (width, height);
    let is_flat = surface.kind == ImageType::TYPE_2D && surface.levels == 1 && surface.layers == 1;
    is_one && is_covered && is_flat && view.desc.layers == 1
}
