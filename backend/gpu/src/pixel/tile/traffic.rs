//! Attachment traffic of a tile pass, by two models of GPUs that keep no whole attachment near.
//!
//! - A **tile memory** holds the attachments of one tile while the tile is processed. It loads each
//!   plane that primitives test, or write in part, and stores each written plane afterwards.
//! - A **render cache** has lines of 256 bytes and holds the lines of one tile. It moves only lines
//!   of groups of 8x8 pixels in which a primitive covers samples.
//!
//! Neither loads a plane that is cleared in the tile, that the first primitive overwrites, or whose
//! contents are undefined. The emulated GPU itself renders attachments in place. The models show
//! the bandwidth that DESIGN 3.1 is about, and they run only if counting is on.

use std::sync::Arc;

use vitric_base::counters::{Counter, Map, TileCounters};
use vitric_memory::PlaneRef;

use super::filling::Filling;
use crate::pixel::{PixelContext, TilePass, TileView};
use crate::raster::GROUP_LOG2;
use crate::state::DepthStencilState;
use crate::transfer::PlaneClear;

/// Bytes of a line of the render cache.
const LINE_BYTES: u64 = 256;

/// Sizes of planes that are moved together.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct PlaneSizes {
    /// Bytes of a pixel.
    pixel_bytes: u64,
    /// Lines of a group.
    group_lines: u64,
}

impl PlaneSizes {
    fn add(&mut self, plane: &PlaneRef<'_>) {
        let texel_bytes = if plane.is_shared() { 4 } else { plane.bytes() as u64 };
        let bytes = texel_bytes * u64::from(plane.samples());
        self.pixel_bytes += bytes;
        self.group_lines += (bytes << (2 * GROUP_LOG2)).div_ceil(LINE_BYTES);
    }
}

/// A plane that the primitives of a tile use.
struct UsedPlane<'a> {
    plane: &'a PlaneRef<'a>,
    is_written: bool,
}

/// Planes that move when a tile is processed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TileTraffic {
    loaded: PlaneSizes,
    stored: PlaneSizes,
}

impl TileTraffic {
    /// Counts a tile of a pass that is about to be processed, and returns the planes that its
    /// primitives move. Returns `None` unless counting is on.
    ///
    /// `cleared` are planes that have just been cleared, and `filling` is the first primitive if it
    /// overwrites the tile.
    pub(super) fn begin(
        view: &TileView<'_>,
        pass: &TilePass<'_>,
        tile: usize,
        cleared: &[PlaneClear<'_>],
        filling: Option<&Filling<'_>>,
    ) -> Option<Self> {
        view.counters?.count(Counter::TilesProcessed, 1);
        let is_cleared = |plane: &PlaneRef<'_>| {
            cleared.iter().any(|clear| !clear.plane().is_shared() && shares_words(clear.plane(), plane))
        };
        let is_overwritten =
            |plane: &PlaneRef<'_>| filling.is_some_and(|filling| filling.overwrites_plane(plane, view.area));
        let is_undefined = |plane: &PlaneRef<'_>| {
            let undefined = pass.processed.iter().flat_map(|processed| processed.undefined_planes(tile));
            undefined.into_iter().any(|undefined| shares_words(undefined, plane))
        };
        Some(Self::new(view, |plane| !is_cleared(plane) && !is_overwritten(plane) && !is_undefined(plane)))
    }

    /// Returns the planes that the primitives of a tile move. `has_contents` returns false for
    /// planes that need not be loaded.
    fn new(view: &TileView<'_>, has_contents: impl Fn(&PlaneRef<'_>) -> bool) -> Self {
        let mut used: Vec<UsedPlane<'_>> = Vec::new();
        let mut last: Option<&PixelContext<'_>> = None;
        for draw in view.primitive_runs().map(|run| run.draw) {
            let context = view.draws[draw].pixel;
            if !last.is_some_and(|last| std::ptr::eq(last, context)) {
                add_used(&mut used, context);
            }
            last = Some(context);
        }
        let mut traffic = Self::default();
        for UsedPlane { plane, is_written } in used {
            if has_contents(plane) {
                traffic.loaded.add(plane);
            }
            if is_written {
                traffic.stored.add(plane);
            }
        }
        traffic
    }

    /// Counts the traffic of a tile after its primitives were rasterized.
    pub(super) fn end(&self, view: &TileView<'_>) {
        view.counters.into_iter().for_each(|counters| self.count(counters, view.area));
    }

    fn count(&self, counters: &TileCounters, [x0, y0, x1, y1]: [i64; 4]) {
        let (pixels, groups) = (((x1 - x0) * (y1 - y0)) as u64, u64::from(counters.marked_groups(Map::Overdraw)));
        counters.count(Counter::AttachmentBytesLoaded, pixels * self.loaded.pixel_bytes);
        counters.count(Counter::AttachmentBytesStored, pixels * self.stored.pixel_bytes);
        counters.count(Counter::RenderLinesLoaded, groups * self.loaded.group_lines);
        counters.count(Counter::RenderLinesStored, groups * self.stored.group_lines);
    }
}

/// Adds the planes that draws with a context use, each once.
fn add_used<'a>(used: &mut Vec<UsedPlane<'a>>, context: &'a PixelContext<'a>) {
    let tests = context.tests.as_ref();
    let is_tested = |tests: &&DepthStencilState| tests.depth_test || tests.depth_bounds_test;
    let depth = tests.filter(is_tested).and_then(|tests| Some((context.depth.as_ref()?, tests.depth_write)));
    let stencil = tests.filter(|tests| tests.stencil_test).and_then(|tests| {
        let is_written = tests.front.write_mask != 0 || tests.back.write_mask != 0;
        Some((context.stencil.as_ref()?, is_written))
    });
    let colors = context.targets().flatten().map(|plane| (plane, true));
    for (plane, is_written) in colors.chain(depth).chain(stencil) {
        match used.iter_mut().find(|known| shares_words(known.plane, plane)) {
            Some(known) => known.is_written |= is_written,
            None => used.push(UsedPlane { plane, is_written }),
        }
    }
}

/// Returns true if two planes are equal, or are depth and stencil in the same words.
fn shares_words(one: &PlaneRef<'_>, other: &PlaneRef<'_>) -> bool {
    let word = |plane: &PlaneRef<'_>| plane.address(0, 0, 0) / 4;
    Arc::ptr_eq(one.memory(), other.memory()) && word(one) == word(other)
}
