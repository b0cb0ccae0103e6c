//! Render passes: loads and clears on first use, and resolves at the end of subpasses.
//!
//! Loads and stores need no work, because attachments are written in place. Clears are deferred
//! until the tile pass. Single-sampled attachments that are rendered to with several samples are
//! replaced by an implicit image during a subpass.

use std::ops::Range;
use std::sync::Arc;

use ash::vk;
use vitric_base::workers::Workers;
use vitric_format as format;
use vitric_format::DEPTH_STENCIL;
use vitric_memory::{InUse, PlaneRef, SurfaceView, SurfaceViewDesc};

use super::viewports::pixel_area;
use super::{AttachmentClear, PassBegin, implicit};
use crate::gpu::{DeviceLost, Gpu};
use crate::raster::{Grid, TILE_LOG2};
use crate::state::{AttachmentDesc, ClearValue, DepthResolve, PassDesc, SubpassDesc};
use crate::transfer::{self, PlaneClear, ResolveArea};

/// Maximum number of layers of passes without attachments.
const MAX_LAYERS: u32 = 2048;

/// An attachment to be cleared on load.
pub(super) struct LoadClear {
    attachment: u32,
    view: Arc<SurfaceView>,
    aspects: vk::ImageAspectFlags,
    value: ClearValue,
    /// Aspects that are cleared only in tiles that are drawn to, because the pass discards them or
    /// the clear of the other tiles is recorded.
    discarded: vk::ImageAspectFlags,
}

impl LoadClear {
    /// Returns the planes to clear.
    pub(super) fn planes(&self) -> impl Iterator<Item = PlaneClear<'_>> {
        PlaneClear::of_view(&self.view, self.aspects, 0, self.value)
    }

    /// Returns the planes that must be cleared even where nothing is drawn.
    pub(super) fn kept_planes(&self) -> impl Iterator<Item = PlaneClear<'_>> {
        PlaneClear::of_view(&self.view, self.aspects & !self.discarded, 0, self.value)
    }

    /// Returns true if tiles must be cleared even where nothing is drawn.
    pub(super) fn is_kept(&self) -> bool {
        self.kept_planes().next().is_some()
    }

    /// Returns the attachment's number.
    pub(super) fn attachment(&self) -> u32 {
        self.attachment
    }

    /// Returns the view to clear.
    pub(super) fn view(&self) -> &SurfaceView {
        &self.view
    }

    /// Records that the whole image is cleared, for each plane that supports this. Recorded planes
    /// are removed from the planes to clear. Nothing must have been drawn to the image.
    pub(super) fn record(&mut self, in_use: &InUse<'_>) {
        let recorded = self.kept_planes().filter(|plane| plane.note(in_use, &self.view.surface));
        let recorded = recorded.fold(vk::ImageAspectFlags::empty(), |recorded, plane| recorded | plane.aspect());
        self.aspects &= !(recorded | self.discarded);
    }

    /// Records that tiles are cleared, for each plane that supports this. Nothing must be drawn to
    /// these tiles before the pass ends.
    pub(super) fn record_tiles(&mut self, in_use: &InUse<'_>, tiles: &UndrawnTiles) {
        let recorded = self.kept_planes().filter(|plane| plane.note_lines(in_use, &self.view.surface, tiles.rows()));
        self.discarded |= recorded.fold(vk::ImageAspectFlags::empty(), |recorded, plane| recorded | plane.aspect());
    }

    /// Sets the aspects that are needed only in tiles that are drawn to. `discarded` returns them
    /// for an attachment.
    pub(super) fn set_discarded(&mut self, discarded: impl Fn(u32) -> vk::ImageAspectFlags) {
        let discarded = discarded(self.attachment);
        // Aspects that share words are discarded only together.
        let is_kept = is_packed(&self.view) && !discarded.contains(DEPTH_STENCIL);
        self.discarded = if is_kept { vk::ImageAspectFlags::empty() } else { discarded };
    }
}

/// Tiles of a render area that begins at the first pixel of an image, to some of which nothing is
/// drawn.
pub(super) struct UndrawnTiles {
    grid: Grid,
    is_drawn: Vec<bool>,
}

impl UndrawnTiles {
    /// Creates the set of the tiles of a grid for which `is_drawn` is false.
    pub(super) fn new(grid: &Grid, is_drawn: Vec<bool>) -> Self {
        Self { grid: *grid, is_drawn }
    }

    /// Returns the number of undrawn tiles.
    pub(super) fn count(&self) -> usize {
        self.is_drawn.iter().filter(|is_drawn| !**is_drawn).count()
    }

    /// Returns the pixels of undrawn tiles, as columns of rows of lines of 8 pixels. They are
    /// ordered from the top to the bottom and from left to right.
    pub(super) fn rows(&self) -> impl Iterator<Item = (u32, Range<u32>)> {
        let [columns, _] = self.grid.size().map(|count| count as usize);
        let [_, _, width, height] = self.grid.area().map(|bound| bound as u32);
        self.is_drawn.chunks(columns.max(1)).zip(0u32..).flat_map(move |(tiles, row)| {
            let top = row << TILE_LOG2;
            (top..height.min(top + (1 << TILE_LOG2))).step_by(8).flat_map(move |y| {
                let undrawn = tiles.iter().zip(0u32..).filter(|(is_drawn, _)| !**is_drawn);
                undrawn.map(move |(_, column)| {
                    let left = column << TILE_LOG2;
                    (y, left..width.min(left + (1 << TILE_LOG2)))
                })
            })
        })
    }
}

/// Returns true if depth and stencil of an attachment share words.
fn is_packed(view: &SurfaceView) -> bool {
    format::info(view.desc.format).is_some_and(|info| info.is_packed())
}

/// Depths of a layer that were cleared inside a pass.
pub(super) struct ClearedDepth {
    pub(super) layer: u32,
    /// The pixels: `[x0, y0, x1, y1]` with exclusive ends.
    pub(super) area: [i64; 4],
    /// The stored depth.
    pub(super) depth: f32,
}

/// A running render pass.
pub struct Pass {
    desc: Arc<PassDesc>,
    views: Vec<Arc<SurfaceView>>,
    /// Views that implicit images replace during the subpass, with the numbers of their
    /// attachments.
    replaced: Vec<(u32, Arc<SurfaceView>)>,
    /// Pixels that the pass renders to.
    pub area: vk::Rect2D,
    /// Number of layers that the pass renders to.
    pub layers: u32,
    /// Width and height of the framebuffer.
    pub(super) extent: [u32; 2],
    clears: Vec<ClearValue>,
    /// For each attachment, the mask of views in which it was used; all bits without multiview.
    used: Vec<u32>,
    subpass: usize,
    /// The current view of the subpass.
    view: u32,
    /// Attachments that this subpass was the first to use, and the masks of views of that use.
    first_used: Vec<(u32, u32)>,
    /// Clears that [`Self::take_clears`] has not returned yet.
    load_clears: Vec<LoadClear>,
}

impl Pass {
    /// Begins a pass with its first subpass.
    ///
    /// # Errors
    /// [`DeviceLost::OutOfMemory`] if there is no memory for implicit images.
    pub(crate) fn begin(begin: &PassBegin, gpu: &Gpu) -> Result<Self, DeviceLost> {
        // Limits the layers to those that exist.
        let max_layers = begin.views.iter().map(|view| view.desc.layers).max().unwrap_or(MAX_LAYERS);
        let mut pass = Self {
            desc: begin.pass.clone(),
            views: begin.views.clone(),
            replaced: Vec::new(),
            area: begin.area,
            layers: begin.layers.min(max_layers),
            extent: begin.extent,
            clears: begin.clears.clone(),
            used: vec![0; begin.pass.attachments.len()],
            subpass: 0,
            view: 0,
            first_used: Vec::new(),
            load_clears: Vec::new(),
        };
        pass.load(gpu)?;
        Ok(pass)
    }

    /// Returns the running subpass.
    pub fn subpass(&self) -> &SubpassDesc {
        &self.desc.subpasses[self.subpass]
    }

    /// Returns the number of the running subpass.
    pub(super) fn subpass_number(&self) -> u32 {
        self.subpass as u32
    }

    /// Returns planes of attachments whose contents were undefined when the subpass began, in all
    /// layers that the subpass draws to.
    pub(super) fn undefined_planes(&self) -> impl Iterator<Item = PlaneRef<'_>> {
        let undefined = vk::AttachmentLoadOp::DONT_CARE;
        self.first_used.iter().flat_map(move |&(attachment, views)| {
            let desc = self.desc.attachments.get(attachment as usize);
            let aspects = desc.into_iter().flat_map(move |desc| {
                let colors =
                    [vk::ImageAspectFlags::COLOR, vk::ImageAspectFlags::DEPTH].map(|aspect| (aspect, desc.load));
                colors.into_iter().chain([(vk::ImageAspectFlags::STENCIL, desc.stencil_load)])
            });
            let aspects = aspects.filter(move |&(_, load)| load == undefined).map(|(aspect, _)| aspect);
            let view = self.view(attachment).into_iter();
            let planes = aspects.flat_map(move |aspect| {
                let layers = self.layers(views);
                view.clone().flat_map(move |view| layers.clone().filter_map(move |layer| view.plane(aspect, 0, layer)))
            });
            // Words that also hold a loaded aspect are loaded.
            let all = desc.is_some_and(|desc| desc.load == undefined && desc.stencil_load == undefined);
            planes.filter(move |plane| all || !plane.is_shared())
        })
    }

    /// Returns the description of the pass.
    pub(super) fn desc(&self) -> &PassDesc {
        &self.desc
    }

    /// Returns the application's view of an attachment, even if an implicit image replaces it.
    pub(super) fn application_view(&self, attachment: u32) -> Option<&Arc<SurfaceView>> {
        let replaced = self.replaced.iter().find(|(replaced, _)| *replaced == attachment);
        replaced.map(|(_, view)| view).or_else(|| self.view(attachment))
    }

    /// Returns true if the subpass has several views.
    pub(super) fn has_views(&self) -> bool {
        self.subpass().view_mask != 0
    }

    /// Returns the aspects of an attachment that are not needed if the pass ends with this
    /// subpass.
    ///
    /// These aspects are not stored, and nothing is resolved from them.
    pub(super) fn discarded(&self, attachment: u32) -> vk::ImageAspectFlags {
        let mut discarded = vk::ImageAspectFlags::empty();
        let is_source = self.is_resolved(attachment);
        let Some(desc) = self.desc.attachments.get(attachment as usize).filter(|_| !is_source) else {
            return discarded;
        };
        if desc.store == vk::AttachmentStoreOp::DONT_CARE {
            discarded |= vk::ImageAspectFlags::COLOR | vk::ImageAspectFlags::DEPTH;
        }
        if desc.stencil_store == vk::AttachmentStoreOp::DONT_CARE {
            discarded |= vk::ImageAspectFlags::STENCIL;
        }
        discarded
    }

    /// Returns true if an attachment is resolved when the subpass ends.
    pub(super) fn is_resolved(&self, attachment: u32) -> bool {
        let subpass = self.subpass();
        let mut resolved = subpass.colors.iter().zip(&subpass.resolves);
        resolved.any(|(color, target)| *color == Some(attachment) && target.is_some())
            || subpass.depth_stencil == Some(attachment) && subpass.depth_resolve.is_some()
            || self.replaced.iter().any(|(replaced, _)| *replaced == attachment)
    }

    /// Returns true if the contents of an attachment are discarded when the pass ends: the
    /// attachment was used, and no aspect is stored.
    pub(super) fn discards(&self, attachment: usize, desc: &AttachmentDesc, view: &SurfaceView) -> bool {
        let is_used = self.used.get(attachment).is_some_and(|views| *views != 0);
        let Some(info) = format::info(view.surface.desc().format).filter(|_| is_used) else { return false };
        let discard = vk::AttachmentStoreOp::DONT_CARE;
        let has_others = !info.stencil || info.depth_bits > 0;
        (desc.store == discard || !has_others) && (desc.stencil_store == discard || !info.stencil)
    }

    /// Returns the views of all attachments.
    pub fn views(&self) -> &[Arc<SurfaceView>] {
        &self.views
    }

    /// Returns the depth attachment of the subpass.
    pub fn depth_view(&self) -> Option<&Arc<SurfaceView>> {
        self.subpass().depth_stencil.and_then(|attachment| self.view(attachment))
    }

    /// Returns the view of a colour attachment, by its index in the subpass.
    pub(super) fn color_view(&self, color: u32) -> Option<&Arc<SurfaceView>> {
        self.subpass().colors.get(color as usize).copied().flatten().and_then(|attachment| self.view(attachment))
    }

    /// Returns a view of depth or stencil alone, if the subpass uses that aspect.
    pub(super) fn view_of_tests(&self, aspect: vk::ImageAspectFlags) -> Option<Arc<SurfaceView>> {
        let view = self.depth_view().filter(|_| !self.subpass().unused_aspects.contains(aspect))?;
        let info = format::info(view.desc.format)?;
        let has_aspect = if aspect == vk::ImageAspectFlags::DEPTH { info.depth_bits > 0 } else { info.stencil };
        let desc = SurfaceViewDesc { aspects: aspect, ..view.desc };
        has_aspect.then(|| Arc::new(SurfaceView { surface: view.surface.clone(), desc }))
    }

    /// Returns the view of an attachment.
    pub fn view(&self, attachment: u32) -> Option<&Arc<SurfaceView>> {
        self.views.get(attachment as usize)
    }

    /// Removes and returns the clears of attachments that the subpass was the first to use. They
    /// must be executed before the attachments are read.
    pub(super) fn take_clears(&mut self) -> Vec<LoadClear> {
        std::mem::take(&mut self.load_clears)
    }

    /// Selects another view of the subpass.
    pub(super) fn set_view(&mut self, view: u32) {
        self.view = view;
    }

    /// Returns the current view, which is the layer of attachments; 0 without multiview.
    pub fn view_index(&self) -> u32 {
        self.view
    }

    /// Returns true if only the first layer of attachments is rendered to.
    pub fn has_one_layer(&self) -> bool {
        self.layers == 1 && self.subpass().view_mask == 0
    }

    /// Returns the mask of the subpass's views; all bits without multiview.
    fn view_mask(&self) -> u32 {
        if self.subpass().view_mask == 0 { u32::MAX } else { self.subpass().view_mask }
    }

    /// Returns the layers that the subpass uses in the views of a mask.
    fn layers(&self, views: u32) -> impl Iterator<Item = u32> + Clone + use<> {
        let has_views = self.subpass().view_mask != 0;
        let count = if has_views { u32::BITS } else { self.layers };
        (0..count).filter(move |layer| !has_views || views >> layer & 1 != 0)
    }

    /// Ends the subpass and begins the next one.
    ///
    /// # Errors
    /// [`DeviceLost::OutOfMemory`] if there is no memory for implicit images.
    pub(crate) fn next_subpass(&mut self, gpu: &Gpu) -> Result<(), DeviceLost> {
        self.resolve(gpu.workers());
        self.subpass = (self.subpass + 1).min(self.desc.subpasses.len() - 1);
        self.view = 0;
        self.load(gpu)
    }

    /// Ends the pass.
    pub(crate) fn end(mut self, workers: &Workers) {
        self.resolve(workers);
    }

    /// Returns the attachments that are written when the subpass ends, because implicit images are
    /// resolved to them.
    pub fn replaced(&self) -> impl Iterator<Item = &Arc<SurfaceView>> {
        self.replaced.iter().map(|(_, view)| view)
    }

    /// Returns the implicit images. When the subpass begins, they contain the texels of the
    /// attachments that they replace.
    pub fn implicit(&self) -> impl Iterator<Item = &Arc<SurfaceView>> {
        self.replaced.iter().filter_map(|&(attachment, _)| self.view(attachment))
    }

    /// Returns true if the subpass uses a depth aspect.
    pub fn has_depth(&self) -> bool {
        self.depth_bits() > 0 && !self.subpass().unused_aspects.contains(vk::ImageAspectFlags::DEPTH)
    }

    /// Returns the layers of the depth attachment that draws go to, counted from its first layer.
    /// With multiview, this is the layer of the current view.
    pub fn depth_layers(&self) -> Range<u32> {
        if self.subpass().view_mask == 0 { 0..self.layers } else { self.view..self.view + 1 }
    }

    /// Returns the attachments that this subpass was the first to use, except its depth
    /// attachment. They may have been cleared.
    pub fn first_used_others(&self) -> impl Iterator<Item = &Arc<SurfaceView>> {
        let depth = self.subpass().depth_stencil.filter(|_| self.has_depth());
        self.first_used.iter().filter(move |(used, _)| Some(*used) != depth).filter_map(|(used, _)| self.view(*used))
    }

    /// Returns the stored depth of the pixels of the render area in a layer that was cleared on
    /// load.
    pub fn cleared_depth(&self, layer: u32) -> Option<f32> {
        let attachment = self.subpass().depth_stencil?;
        let &(_, views) = self.first_used.iter().find(|(used, _)| *used == attachment)?;
        let desc = self.desc.attachments.get(attachment as usize)?;
        let is_first_use = self.subpass().view_mask == 0 || views >> layer & 1 != 0;
        let depth = self.clears.get(attachment as usize)?.depth();
        let stored = format::stored_depth(self.depth_bits(), depth);
        (desc.load == vk::AttachmentLoadOp::CLEAR && is_first_use).then_some(stored)
    }

    /// Returns the number of bits of the subpass's depths; 0 without depth.
    pub fn depth_bits(&self) -> u32 {
        self.depth_view().and_then(|view| format::info(view.desc.format)).map_or(0, |info| info.depth_bits)
    }

    /// Clears attachments that this subpass is the first to use.
    fn load(&mut self, gpu: &Gpu) -> Result<(), DeviceLost> {
        self.first_used.clear();
        let subpass = self.desc.subpasses[self.subpass].clone();
        let views = self.view_mask();
        self.replace_by_implicit(&subpass, gpu)?;
        for attachment in subpass.attachments() {
            let used = &mut self.used[attachment as usize];
            let new_views = views & !*used;
            *used |= views;
            self.load_attachment(attachment, new_views, gpu.workers());
            if new_views != 0 {
                self.first_used.push((attachment, new_views));
            }
        }
        Ok(())
    }

    /// Replaces single-sampled attachments that are rendered to with several samples by implicit
    /// images.
    fn replace_by_implicit(&mut self, subpass: &SubpassDesc, gpu: &Gpu) -> Result<(), DeviceLost> {
        let Some(implicit) = subpass.implicit else { return Ok(()) };
        for attachment in subpass.colors.iter().chain([&subpass.depth_stencil]).copied().flatten() {
            let is_replaced = self.replaced.iter().any(|(replaced, _)| *replaced == attachment);
            let view = self.view(attachment).filter(|view| view.surface.desc().samples == 1 && !is_replaced).cloned();
            let Some(view) = view.filter(|_| implicit.samples > 1) else { continue };
            let image = implicit::create_view(gpu, &view, implicit.samples).ok_or(DeviceLost::OutOfMemory)?;
            for layer in self.layers(self.view_mask()) {
                // Cleared and undefined contents need no copy. Finding those layers and aspects
                // would save little.
                transfer::replicate(gpu.workers(), (&view, &image), layer, self.area);
            }
            self.views[attachment as usize] = Arc::new(image);
            self.replaced.push((attachment, view));
        }
        Ok(())
    }

    /// Resolves implicit images to the attachments that they replaced.
    fn resolve_implicit(&mut self, workers: &Workers) {
        let Some(implicit) = self.subpass().implicit else { return };
        for (attachment, view) in std::mem::take(&mut self.replaced) {
            let image = std::mem::replace(&mut self.views[attachment as usize], view.clone());
            let skips_transfer = self.desc.attachments[attachment as usize].skips_transfer;
            let (depth, stencil) = (implicit.depth, implicit.stencil);
            for layer in self.layers(self.view_mask()) {
                let part = ResolveArea { layer, area: self.area, skips_transfer };
                transfer::resolve_view(workers, (&image, &view), part);
                let how = DepthResolve { attachment, depth, stencil };
                transfer::resolve_depth_stencil((&image, &view), layer, self.area, how);
            }
            implicit::keep(&view, &image);
        }
    }

    fn load_attachment(&mut self, attachment: u32, views: u32, workers: &Workers) {
        let desc = &self.desc.attachments[attachment as usize];
        let clear = vk::AttachmentLoadOp::CLEAR;
        let mut aspects = vk::ImageAspectFlags::empty();
        if desc.load == clear {
            aspects |= vk::ImageAspectFlags::COLOR | vk::ImageAspectFlags::DEPTH;
        }
        if desc.stencil_load == clear {
            aspects |= vk::ImageAspectFlags::STENCIL;
        }
        let (Some(view), Some(&value)) = (self.view(attachment), self.clears.get(attachment as usize)) else { return };
        if aspects.is_empty() || views == 0 {
            return;
        }
        if is_packed(view) && desc.stencil_load == vk::AttachmentLoadOp::DONT_CARE {
            // If depth does not share its words, they can be filled without being read.
            aspects |= vk::ImageAspectFlags::STENCIL;
        }
        if self.has_one_layer() {
            let (view, discarded) = (view.clone(), vk::ImageAspectFlags::empty());
            return self.load_clears.push(LoadClear { attachment, view, aspects, value, discarded });
        }
        for layer in self.layers(views) {
            let planes = PlaneClear::of_view(view, aspects, layer, value);
            planes.for_each(|plane| plane.clear_on(workers, pixel_area(self.area)));
        }
    }

    /// Clears parts of the subpass's attachments. Calls `cleared` for each cleared depth.
    pub(super) fn clear_attachments(
        &self,
        clears: &[AttachmentClear],
        rects: &[vk::ClearRect],
        workers: &Workers,
        mut cleared: impl FnMut(ClearedDepth),
    ) {
        for &AttachmentClear { aspects, color, value } in clears {
            let is_color = aspects.contains(vk::ImageAspectFlags::COLOR);
            let attachment = match is_color {
                true => self.subpass().colors.get(color as usize).copied().flatten(),
                false => self.subpass().depth_stencil,
            };
            let Some(view) = attachment.and_then(|attachment| self.view(attachment)) else { continue };
            let aspects = aspects & !self.subpass().unused_aspects;
            for (layer, area) in rects.iter().flat_map(|rect| self.cleared_layers(rect)) {
                let planes = PlaneClear::of_view(view, aspects, layer, value);
                planes.for_each(|plane| plane.clear_on(workers, area));
                if aspects.contains(vk::ImageAspectFlags::DEPTH) {
                    let depth = format::stored_depth(self.depth_bits(), value.depth());
                    cleared(ClearedDepth { layer, area, depth });
                }
            }
        }
    }

    /// Returns the layers of attachments that a rectangle clears, and the pixels.
    fn cleared_layers(&self, rect: &vk::ClearRect) -> impl Iterator<Item = (u32, [i64; 4])> + use<> {
        // With multiview, layer 0 of the rectangle is the current view.
        let layers = rect.base_array_layer..rect.base_array_layer.saturating_add(rect.layer_count);
        let (area, count, view) = (pixel_area(intersect(rect.rect, self.area)), self.layers, self.view);
        layers.filter(move |&layer| layer < count).map(move |layer| (view + layer, area))
    }

    /// Resolves attachments with resolve targets, and implicit images.
    fn resolve(&mut self, workers: &Workers) {
        self.resolve_attachments(workers);
        self.resolve_implicit(workers);
    }

    fn resolve_attachments(&self, workers: &Workers) {
        let subpass = self.subpass();
        for (color, resolve) in subpass.colors.iter().zip(&subpass.resolves) {
            let views = (color.and_then(|index| self.view(index)), resolve.and_then(|index| self.view(index)));
            let desc = resolve.and_then(|index| self.desc.attachments.get(index as usize));
            let skips_transfer = desc.is_some_and(|desc| desc.skips_transfer);
            if let (Some(source), Some(target)) = views {
                for layer in self.layers(self.view_mask()) {
                    let part = ResolveArea { layer, area: self.area, skips_transfer };
                    transfer::resolve_view(workers, (source, target), part);
                }
            }
        }
        let Some(resolve) = subpass.depth_resolve else { return };
        if let (Some(source), Some(target)) = (self.depth_view(), self.view(resolve.attachment)) {
            for layer in self.layers(self.view_mask()) {
                transfer::resolve_depth_stencil((source, target), layer, self.area, resolve);
            }
        }
    }
}

fn intersect(a: vk::Rect2D, b: vk::Rect2D) -> vk::Rect2D {
    let axis = |a0: i32, a_size: u32, b0: i32, b_size: u32| {
        let low = i64::from(a0.max(b0));
        let high = (i64::from(a0) + i64::from(a_size)).min(i64::from(b0) + i64::from(b_size));
        (low as i32, (high - low).max(0) as u32)
    };
    let (x, width) = axis(a.offset.x, a.extent.width, b.offset.x, b.extent.width);
    let (y, height) = axis(a.offset.y, a.extent.height, b.offset.y, b.extent.height);
    vk::Rect2D { offset: vk::Offset2D { x, y }, extent: vk::Extent2D { width, height } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undrawn_tiles_are_rows_of_lines() {
        let grid = Grid::new([0, 0, 150, 76], 1);
        let tiles = UndrawnTiles::new(&grid, vec![true, false, true, false, true, false]);
        assert_eq!(tiles.count(), 3);
        let rows: Vec<_> = tiles.rows().collect();
        let upper = (0..64).step_by(8).map(|y| (y, 64..128));
        let lower = [64, 72].into_iter().flat_map(|y| [(y, 0..64), (y, 128..150)]);
        assert_eq!(rows, upper.chain(lower).collect::<Vec<_>>());
    }
}
