//! Updates of the Hi-Z structure by the primitives of a tile, during rasterization (DESIGN 3.2).
//!
//! Large primitives of a segment update the groups that they fully cover before any primitive is
//! drawn. Small primitives update it when they are drawn, where that pays.

use vitric_base::counters::{Counter, TileCounters, count};

use super::DrawContext;
use super::coverage::{covers_group, covers_tile, fully_covered};
use super::depth_group::DepthPlane;
use super::{PrimitiveRun, TileView};
use crate::hiz::{Bounds, DepthDirection, DepthRange, GroupCoverage, depths_over, group_number, groups_of};
use crate::raster::within;
use crate::raster::{GROUP_LOG2, Triangle, may_cover_group, pixels_inside};

/// Minimum number of primitives of a tile for which its unknown bounds are rebuilt. To read the
/// depths of a tile takes about as long as to draw so many small primitives.
const MIN_REBUILDING: u32 = 64;

/// Returns the rectangle of the pixels of a group that lie in `area`.
pub(super) fn group_within([x, y]: [i64; 2], area: [i64; 4]) -> [i64; 4] {
    let side = 1 << GROUP_LOG2;
    [x.max(area[0]), y.max(area[1]), (x + side).min(area[2]), (y + side).min(area[3])]
}

/// Prepares the depth bounds of a tile before its primitives are drawn. Unknown bounds, as after a
/// copy to the image, are rebuilt from the stored depths if enough primitives may gain from it.
pub(super) fn begin_bounds(view: &TileView<'_>, bounds: &mut Bounds) {
    let primitives = view.bins.iter().map(|bin| bin.primitives.len() as u32).sum();
    bounds.heuristic().count_primitives(primitives);
    if primitives >= MIN_REBUILDING && bounds.is_unknown() && bounds.heuristic().allows_tests() {
        rebuild_bounds(view, bounds);
    }
}

/// Rebuilds the depth bounds of a tile from the stored depths, unless no primitive would be tested
/// against them.
#[cold]
fn rebuild_bounds(view: &TileView<'_>, bounds: &mut Bounds) {
    let draws = || view.primitive_runs().map(|run| &view.draws[run.draw]);
    let tested = draws().find_map(|draw| Some((draw, draw.visibility.tests?, draw.depth.as_ref()?)));
    let Some((context, direction, plane)) = tested else { return };
    // A draw before the first test would discard the bounds.
    if draws().take_while(|draw| draw.visibility.tests.is_none()).any(|draw| draw.visibility.recedes(direction)) {
        return;
    }
    count(view.counters, Counter::HizRebuiltTiles, 1);
    let stored = DepthPlane { plane, bits: context.depth_bits };
    // Other pixels of the image may change at the same time.
    let inside = within(view.area, bounds.pixels());
    for group in groups_of(inside).filter(|group| group_within(*group, inside) == whole_group(*group)) {
        if let Some(range) = stored.range(group.map(|pixel| pixel as u32)) {
            bounds.set_group(group_number(group), range);
        }
    }
    bounds.recompute_tile();
}

/// Returns the rectangle of all pixels of a group.
fn whole_group([x, y]: [i64; 2]) -> [i64; 4] {
    let side = 1 << GROUP_LOG2;
    [x, y, x + side, y + side]
}

/// Updates the depth bounds of a tile for the next draw. Returns true if tests against the bounds
/// pay.
///
/// All large primitives of a new segment update the bounds where they cover groups. If the draw
/// writes depths without Hi-Z updates, bounds that its writes may violate are discarded.
pub(super) fn update_bounds<'w>(
    view: &TileView<'w>,
    bounds: &mut Bounds,
    context: &DrawContext<'_>,
    is_new: bool,
    primitive_runs: impl Iterator<Item = PrimitiveRun<'w>>,
) -> bool {
    let tests = bounds.heuristic().allows_tests();
    if tests && is_new {
        let segment = primitive_runs.take_while(|run| view.draws[run.draw].segment == context.segment);
        let large = segment.filter(|run| run.bin.0.primitives.has_large());
        let updated: u32 = large.map(|run| update_hiz(view, &run, bounds)).sum();
        bounds.heuristic().count_tests(updated, 0);
        bounds.recompute_tile();
    }
    if let Some(op) = context.visibility.writes.filter(|_| !tests || !context.visibility.updates_hiz) {
        bounds.forget(op);
    }
    tests
}

/// Updates the bounds of a tile by the primitives of a segment, in the groups that they cover.
/// Returns the number of primitives whose coverage was examined.
fn update_hiz(view: &TileView<'_>, primitive_run: &PrimitiveRun<'_>, bounds: &mut Bounds) -> u32 {
    let (context, primitives) = (&view.draws[primitive_run.draw], &primitive_run.bin.0.primitives);
    let Some(direction) = context.visibility.tests else { return 0 };
    let (clip, counters, mut count) = (within(context.scissor, view.area), view.counters, 0);
    for index in primitive_run.primitives.clone() {
        let pixels = primitives.pixels(index);
        let window = within(pixels, clip);
        // A window that is narrower than a group covers no group, except at the edge of the area.
        let is_cut = |axis: usize| window[axis + 2] - window[axis] < 1 << GROUP_LOG2;
        let is_polygon = context.criterion.is_some() && !primitives.polygon(index).is_empty();
        if !may_cover_group(pixels) || is_cut(0) || is_cut(1) || is_polygon {
            continue;
        }
        let triangle = primitives.triangle(index);
        count += 1;
        if !triangle.may_cover_group() {
            continue;
        }
        let (shape, criterion) = (primitives.shape(index), context.inner_criterion());
        let depths = |pixels| depths_over(&shape, pixels, context.depth_format());
        let image = bounds.pixels();
        if window == image && covers_tile(&triangle, [image[0], image[1]], criterion, counters) {
            bounds.update_all(direction, depths(image));
            continue;
        }
        for group in groups_of(window) {
            let pixels = group_within(group, image);
            if group_within(group, window) == pixels && covers_group(&triangle, group, criterion, counters) {
                bounds.update(direction, group_number(group), depths(pixels));
            }
        }
    }
    count
}

/// Returns true if a small primitive is large enough that a Hi-Z update may hide more than it
/// costs.
pub(super) fn is_worth_updating([x0, y0, x1, y1]: [i64; 4]) -> bool {
    x1 - x0 > 4 || y1 - y0 > 4
}

/// Update of Hi-Z by a small primitive.
pub(super) struct SmallUpdate<'a> {
    pub(super) triangle: &'a Triangle,
    /// Locations of the samples in a pixel, in units.
    pub(super) locations: &'a [[i64; 2]],
    /// Pixels that the primitive may touch.
    pub(super) window: [i64; 4],
    /// Range of the primitive's depths.
    pub(super) range: DepthRange,
}

/// Updates the bounds of the groups that a small primitive touches.
#[cold]
pub(super) fn update_by_small(
    bounds: &mut Bounds,
    direction: DepthDirection,
    SmallUpdate { triangle, locations, window, range }: SmallUpdate<'_>,
    counters: Option<&TileCounters>,
) {
    let image = bounds.pixels();
    for group @ [x, y] in groups_of(window) {
        let inside = fully_covered(triangle, group, locations, counters) & pixels_inside(x, y, window);
        let pixels = inside | !pixels_inside(x, y, image);
        bounds.update_part(direction, GroupCoverage { group: group_number(group), pixels }, range);
    }
}
