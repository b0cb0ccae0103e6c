//! Which images commands use: they must not be at rest in near memory (`memory/rest`) from then on until the submission ends.
//!
//! Images that descriptors name are found when sets are resolved (`sets.rs`); buffers never rest. Whoever adds a command that names an
//! image says so here. Passes and transitions say also what need not be kept, and what is only read from then on.

use std::sync::Arc;

use ash::vk::{AttachmentLoadOp as Load, Extent3D, ImageType, Rect2D};
use vitric_format as format;
use vitric_memory::{Hint, Surface, SurfaceView};

use super::pass::Pass;
use super::processor::Processor;
use super::{Command, PassBegin};
use crate::transfer;

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

    /// A pass ends. Where nothing was drawn to any tile, clears of whole images are noted instead of written.
    pub(super) fn note_clears(&mut self) {
        let (Some(in_use), Some(pass)) = (&self.shared.in_use, &self.pass) else { return };
        self.pending.note_clears(|clear| {
            let is_read = pass.is_resolved(clear.attachment());
            if !is_read && covers(pass.area, clear.view()) {
                clear.note(in_use);
            }
        });
    }

    /// A pass ends: what it stores nothing of is lost, and layouts say what is only read from now on.
    pub(super) fn hint_attachments(&self, pass: &Pass) {
        let Some(in_use) = &self.shared.in_use else { return };
        for (number, desc) in pass.desc().attachments.iter().enumerate() {
            let Some(view) = pass.own_view(number as u32) else { continue };
            let is_lost = !pass.has_views() && pass.loses(number, desc, view) && covers(pass.area, view);
            let hint = if is_lost { Some(Hint::Lost) } else { Hint::of_layout(desc.final_layout) };
            hint.into_iter().for_each(|hint| view.surface.hint(in_use, hint));
        }
    }

    /// A command is executed that is no draw and no dispatch.
    pub(super) fn use_named(&self, command: &Command) {
        let uses = |surfaces: &[&Arc<Surface>]| surfaces.iter().for_each(|surface| self.begin_use(surface, false));
        match command {
            Command::BlitImage { source, target, .. } | Command::ResolveImage { source, target, .. } => {
                uses(&[source, target]);
            }
            // What is copied from may rest, see `transfer`.
            Command::CopyImage { target, .. } | Command::CopyBufferToImage { target, .. } => uses(&[target]),
            Command::ClearColorImage { target, ranges, .. }
            | Command::ClearDepthStencilImage { target, ranges, .. } => {
                self.begin_use(target, transfer::clears_all(target, ranges));
            }
            _ => {}
        }
    }
}

/// Whether a pass begins with all texels of an attachment being cleared, or anything.
fn overwrites(begin: &PassBegin, number: usize) -> bool {
    let (pass, view) = (&*begin.pass, &*begin.views[number]);
    let (Some(desc), Some(first)) = (pass.attachments.get(number), pass.subpasses.first()) else { return false };
    let Some(info) = format::info(view.surface.desc().format) else { return false };
    let load = if info.stencil { desc.stencil_load } else { desc.load };
    let is_lost = [Load::CLEAR, Load::DONT_CARE].contains(&load);
    // Depth may be rendered without the stencil beside it, which then stays as it is.
    let is_one = !info.is_planar() && info.planes().count() == 1;
    let is_used = first.attachments().any(|used| used as usize == number);
    is_lost && is_one && first.view_mask == 0 && is_used && covers(begin.area, view)
}

/// Whether an area covers a view, which shows all of its surface.
fn covers(area: Rect2D, view: &SurfaceView) -> bool {
    let surface = view.surface.desc();
    let Extent3D { width, height, .. } = surface.extent;
    let is_covered =
        (area.offset.x, area.offset.y) == (0, 0) && (area.extent.width, area.extent.height) == (width, height);
    let is_flat = surface.kind == ImageType::TYPE_2D && surface.levels == 1 && surface.layers == 1;
    is_covered && is_flat && view.desc.layers == 1
}
