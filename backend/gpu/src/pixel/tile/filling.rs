//! Tiles whose first primitive overwrites all of them.
//!
//! The depths of such a primitive are written without reading stored depths. The planes that it
//! overwrites need not be cleared before. Both remain correct if later primitives hide the first
//! one, because they overwrite the same attachments.

use std::sync::Arc;

use ash::vk;
use vitric_memory::PlaneRef;

use crate::hiz::{Bounds, depths_over, groups_of};
use crate::pixel::DrawContext;
use crate::pixel::coverage::covers_tile;
use crate::pixel::depth_group::{self, DepthPlane, GroupSample};
use crate::pixel::{PrimitiveId, SMALL_PIXELS, TileView};
use crate::raster::{Coverage, GROUP_LOG2, Shape, has_all_samples, within};
use crate::transfer::PlaneClear;

/// Number of a tile's first primitive.
pub(super) const ID: PrimitiveId = 0;

/// First primitive of a tile that overwrites the whole tile.
pub(super) struct Filling<'a> {
    context: &'a DrawContext<'a>,
    shape: Shape,
    /// Destination of the primitive's depths, if it writes any.
    depth: Option<DepthPlane<'a>>,
}

impl<'a> Filling<'a> {
    /// Returns the first primitive of a tile if it overwrites the whole tile.
    ///
    /// Returns `None` if nothing is tested and no plane is cleared before (`is_cleared`).
    pub(super) fn of(view: &TileView<'a>, bounds: Option<&Bounds>, is_cleared: bool) -> Option<Self> {
        let (bin, run) = view.bins.first().and_then(|bin| Some((bin, bin.first_draw()?)))?;
        let (context, primitives, area) = (&view.draws[run], &bin.primitives, view.area);
        if !is_cleared && context.tests.is_none() || context.coverage == Coverage::Flat {
            return None;
        }
        if !overwrites_all(context, area) || within(primitives.pixels(0), area) != area {
            return None;
        }
        let triangle = primitives.triangle(0);
        if !covers_tile(&triangle, [area[0], area[1]], context.inner_criterion(), view.counters) {
            return None;
        }
        let shape = primitives.shape(0);
        let depth = tested_depth(context, &shape, area, bounds)?;
        Some(Self { context, shape, depth })
    }

    /// Returns true if the primitive overwrites all texels of a plane in the tile.
    fn overwrites(&self, aspect: vk::ImageAspectFlags, plane: &PlaneRef<'_>, [x, y, ..]: [i64; 4]) -> bool {
        let (context, [x, y]) = (self.context, [x, y].map(|pixel| pixel as u32));
        let is_it = |other: &PlaneRef<'_>| {
            let kind = |plane: &PlaneRef<'_>| (plane.address(x, y, 0), plane.bytes(), plane.samples());
            Arc::ptr_eq(plane.memory(), other.memory()) && kind(plane) == kind(other)
        };
        let has_all = plane.samples() == context.multisample.samples;
        let written = context.overwrites.unwrap_or(0);
        let is_written = |location: usize| location < u32::BITS as usize && written >> location & 1 != 0;
        has_all
            && match aspect {
                vk::ImageAspectFlags::COLOR => {
                    let colors = context.colors.iter().enumerate().filter(|&(location, _)| is_written(location));
                    colors.filter_map(|(_, color)| color.as_ref()).any(is_it)
                }
                vk::ImageAspectFlags::DEPTH => self.depth.is_some_and(|depth| is_it(depth.plane)),
                _ => false,
            }
    }

    /// Returns true if the primitive overwrites all texels of a color or depth plane in the tile.
    pub(super) fn overwrites_plane(&self, plane: &PlaneRef<'_>, area: [i64; 4]) -> bool {
        [vk::ImageAspectFlags::COLOR, vk::ImageAspectFlags::DEPTH].iter().any(|&of| self.overwrites(of, plane, area))
    }

    /// Writes the primitive's depths to the whole tile.
    fn write_depths(&self, area: [i64; 4]) {
        let Some(stored) = self.depth else { return };
        for place in groups_of(area).map(|group| group.map(|pixel| pixel as u32)) {
            for (sample, &location) in (0..self.context.multisample.samples).zip(&*self.context.locations) {
                depth_group::write_all(stored, &self.shape, GroupSample { place, sample, location });
            }
        }
    }
}

/// Clears planes in a tile, except for those that its first primitive overwrites, and writes that
/// primitive's depths.
pub(super) fn clear(due: &[PlaneClear<'_>], area: [i64; 4], filling: Option<&Filling<'_>>) {
    let is_needed = |clear: &&PlaneClear<'_>| {
        !filling.is_some_and(|filling| filling.overwrites(clear.aspect(), clear.plane(), area))
    };
    due.iter().filter(is_needed).for_each(|clear| clear.clear(area));
    if let Some(filling) = filling {
        filling.write_depths(area);
    }
}

/// Returns true if a primitive of a draw overwrites the attachments of a tile, provided that it
/// covers the tile and passes all tests.
fn overwrites_all(context: &DrawContext<'_>, area @ [x0, y0, x1, y1]: [i64; 4]) -> bool {
    let is_aligned = area.iter().all(|edge| edge % (1 << GROUP_LOG2) == 0);
    // Smaller primitives may be drawn by the kernels for small primitives.
    let is_large = (x1 - x0) * (y1 - y0) > SMALL_PIXELS;
    let is_plain = context.criterion.is_none() && context.rates.is_none() && !context.pipeline.reads_attachments;
    let is_opaque = context.overwrites.is_some() && has_all_samples(&context.multisample) && !context.masks_late();
    is_aligned && is_large && is_plain && is_opaque && within(context.scissor, area) == area
}

/// Returns the destination of a primitive's depths in a tile that it covers, or `Some(None)` if it
/// writes none.
///
/// Returns `None` unless the primitive passes all tests.
fn tested_depth<'a>(
    context: &'a DrawContext<'a>,
    shape: &Shape,
    area @ [x0, y0, x1, y1]: [i64; 4],
    bounds: Option<&Bounds>,
) -> Option<Option<DepthPlane<'a>>> {
    if context.tests.is_none() {
        return Some(None);
    }
    let (tests, plane, bits) = (context.depth_alone.as_ref()?, context.depth.as_ref()?, context.depth_bits);
    let range = depths_over(shape, area, context.depth_format());
    let passes = tests.depth_compare == vk::CompareOp::ALWAYS
        || bounds.is_some_and(|bounds| bounds.lies_behind(tests.depth_compare, range));
    // Stencil that shares words with depth must be preserved, even if the pass does not use it.
    let is_alone = !plane.is_shared();
    let stored = DepthPlane { plane, bits };
    let side = 1 << GROUP_LOG2;
    let has_lines =
        [[x0, y0], [x1 - side, y1 - side]].iter().all(|place| stored.has_line(place.map(|pixel| pixel as u32)));
    (passes && is_alone && has_lines).then_some(Some(stored).filter(|_| tests.depth_write))
}
