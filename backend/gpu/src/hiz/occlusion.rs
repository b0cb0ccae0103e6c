//! Tests of primitives in front of the tiler, and updates by triangles for later primitives.

use super::{
    DepthDirection, DepthFormat, DepthRange, EarlyBounds, GroupCoverage, GroupRect, Visibility, as_stored, depths_over,
    group_number, groups_of,
};
use crate::raster::{Criterion, GROUP_LOG2, Grid, Shape, TILE_LOG2, Triangle, UNITS, pixels_inside, within};

/// Rules by which the triangles of a draw update Hi-Z.
#[derive(Clone, Copy)]
pub struct UpdateRules {
    /// Effects of the draw's fragments on the structure.
    pub visibility: Visibility,
    /// Pixels that the triangles may touch.
    pub scissor: [i64; 4],
    /// Format of the stored depths.
    pub format: DepthFormat,
    /// Width and height of the image in pixels.
    pub extent: [i64; 2],
    /// Criterion by which a triangle covers all pixels of a cell.
    pub full: Criterion,
}

/// Update of Hi-Z by a triangle.
#[derive(Debug, Clone, Copy)]
pub struct HizUpdate {
    /// Triangle, for its coverage.
    pub triangle: Triangle,
    /// Shape, for its depths.
    pub shape: Shape,
    /// Pixels that the triangle may cover.
    pub pixels: [i64; 4],
}

/// Numbers of coverage evaluations, and of covered elements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UpdateCoverage {
    /// Tiles evaluated by the conservative criterion, and those of them that are touched.
    pub tiles_touched: [u64; 2],
    /// Tiles evaluated by the inner criterion, and those of them that are covered.
    pub tiles_inner: [u64; 2],
    /// Groups evaluated by the inner criterion, and those of them that are covered.
    pub groups_inner: [u64; 2],
    /// Samples evaluated by the standard criterion, and those of them that are covered.
    pub samples: [u64; 2],
}

impl UpdateCoverage {
    /// Adds other numbers.
    pub fn add(&mut self, other: &Self) {
        let own = [&mut self.tiles_touched, &mut self.tiles_inner, &mut self.groups_inner, &mut self.samples];
        let others = [other.tiles_touched, other.tiles_inner, other.groups_inner, other.samples];
        own.into_iter().flatten().zip(others.into_iter().flatten()).for_each(|(own, other)| *own += other);
    }
}

/// Applies the updates of triangles of the first layer. Groups that a triangle covers in part are
/// updated, too, for samples at these places in pixels, in units.
pub fn apply_updates(
    early: &mut EarlyBounds,
    updates: &[HizUpdate],
    grid: &Grid,
    (update_rules, locations): (&UpdateRules, &[[i64; 2]]),
) -> UpdateCoverage {
    let Some(mut updater) = HizUpdater::new(early, grid, 0, update_rules, locations) else { return Default::default() };
    updates.iter().for_each(|update| updater.apply(update));
    updater.coverage
}

/// Test of primitives of the first layer in front of the tiler.
#[derive(Clone, Copy)]
pub struct OcclusionTest<'a> {
    early: &'a EarlyBounds,
    grid: &'a Grid,
    direction: DepthDirection,
    /// Pixels that primitives may touch.
    clip: [i64; 4],
    depth_bits: u32,
    /// Range to which depths are clamped.
    range: DepthRange,
}

impl<'a> OcclusionTest<'a> {
    /// Returns the test of primitives that may touch pixels of the scissor, for depths of a number
    /// of bits that are clamped to a range. Returns `None` if there are no bounds.
    pub fn new(
        early: &'a EarlyBounds,
        grid: &'a Grid,
        scissor: [i64; 4],
        (depth_bits, range): (u32, DepthRange),
    ) -> Option<Self> {
        let direction = early.direction()?;
        Some(Self { early, grid, direction, clip: within(scissor, grid.area()), depth_bits, range })
    }

    /// Returns the direction in which depths hide others.
    #[inline]
    pub fn direction(&self) -> DepthDirection {
        self.direction
    }

    /// Returns the pixels of a rectangle that may be touched, or `None` if there are none.
    #[inline]
    pub fn touchable(&self, pixels: [i64; 4]) -> Option<[i64; 4]> {
        let pixels = within(pixels, self.clip);
        (pixels[0] < pixels[2] && pixels[1] < pixels[3]).then_some(pixels)
    }

    /// Returns true if depths in a range are hidden in all pixels of a rectangle, which must be
    /// touchable.
    pub fn hides(&self, [x0, y0, x1, y1]: [i64; 4], depths: DepthRange) -> bool {
        let DepthRange { min, max } = self.range;
        let depths = as_stored(depths.map(|depth| depth.max(min).min(max)), self.depth_bits);
        let nearness = self.direction.nearness(self.direction.near(depths));
        if !self.early.may_hide(nearness) {
            return false;
        }
        let [first, last] = Grid::corners([x0, y0, x1, y1]);
        (first[1]..=last[1]).all(|row| {
            (first[0]..=last[0]).all(|column| {
                let tile = self.grid.number([column, row]);
                let pixels = within([x0, y0, x1, y1], self.grid.pixels(tile));
                self.early.may_hide_in(tile, nearness) && self.early.hides(tile, GroupRect::of(pixels), nearness)
            })
        })
    }
}

/// Applier of the Hi-Z updates of a draw's triangles in one layer.
pub struct HizUpdater<'a> {
    early: &'a mut EarlyBounds,
    direction: DepthDirection,
    grid: &'a Grid,
    /// Number of the layer's first tile.
    first_tile: usize,
    /// Pixels that the triangles may touch.
    clip: [i64; 4],
    format: DepthFormat,
    /// Pixels of the image.
    image: [i64; 4],
    /// Sample locations in a pixel, in units. Empty if groups that a triangle covers in part are
    /// not updated.
    locations: &'a [[i64; 2]],
    /// Criterion by which a triangle covers all pixels of a cell.
    full: Criterion,
    /// Evaluations so far.
    coverage: UpdateCoverage,
}

impl<'a> HizUpdater<'a> {
    /// Returns the updater for triangles of a layer, or `None` if there are no bounds. Groups that
    /// a triangle covers in part are updated if `locations` is not empty.
    pub fn new(
        early: &'a mut EarlyBounds,
        grid: &'a Grid,
        layer: u32,
        rules: &UpdateRules,
        locations: &'a [[i64; 2]],
    ) -> Option<Self> {
        let direction = early.direction()?;
        let image = [0, 0, rules.extent[0], rules.extent[1]];
        // An underestimated triangle may leave out pixels of which it covers all samples.
        let locations = if rules.full == Criterion::Interior { &[] } else { locations };
        let (first_tile, clip) = (layer as usize * grid.count(), within(rules.scissor, grid.area()));
        Some(Self {
            early,
            direction,
            grid,
            first_tile,
            clip,
            format: rules.format,
            image,
            locations,
            full: rules.full,
            coverage: UpdateCoverage::default(),
        })
    }

    /// Applies the update of a triangle to all tiles that it touches.
    pub fn apply(&mut self, HizUpdate { triangle, shape, pixels }: &HizUpdate) {
        let Self { early, direction, grid, first_tile, clip, format, image, locations, full, coverage } = self;
        let touched = within(*pixels, *clip);
        let nearness = |pixels| {
            let depths = depths_over(shape, pixels, *format);
            [direction.near(depths), direction.far(depths)].map(|depth| direction.nearness(depth))
        };
        let covers = |[x, y]: [i64; 2], log2: u32| triangle.covers_cell(x * UNITS, y * UNITS, UNITS << log2, *full);
        let in_image = |[x, y]: [i64; 2], log2: u32| within([x, y, x + (1 << log2), y + (1 << log2)], *image);
        let mut tiles = 0;
        let evaluated = grid.touched_by(
            *pixels,
            &grid.tiles_within(*clip),
            || (*triangle, Criterion::Conservative),
            |tile| {
                tiles += 1;
                let [left, top, ..] = grid.pixels(tile);
                let corner = [left, top].map(|pixel| pixel >> TILE_LOG2 << TILE_LOG2);
                let (tile, whole) = (*first_tile + tile, in_image(corner, TILE_LOG2));
                let here = within(touched, whole);
                if here[0] >= here[2] || here[1] >= here[3] {
                    return;
                }
                let [nearest, farthest] = nearness(here);
                // Where the triangle is hidden no pixel becomes nearer.
                if early.hides(tile, GroupRect::of(here), nearest) {
                    return;
                }
                if here == whole {
                    let is_covered = covers(corner, TILE_LOG2);
                    count(&mut coverage.tiles_inner, 1, is_covered.into());
                    if is_covered {
                        return early.update_tile(tile, farthest);
                    }
                }
                for group in groups_of(here) {
                    let whole = in_image(group, GROUP_LOG2);
                    let [_, far] = nearness(within(whole, here));
                    if !early.may_gain(tile, group, far) {
                        continue;
                    }
                    if within(whole, here) == whole {
                        let is_covered = covers(group, GROUP_LOG2);
                        count(&mut coverage.groups_inner, 1, is_covered.into());
                        if is_covered {
                            early.update_group(tile, group, far);
                            continue;
                        }
                    }
                    if !locations.is_empty() {
                        let masks = locations.iter().map(|at| triangle.covers_group(group[0], group[1], *at));
                        let inside = masks.fold(u64::MAX, |all, mask| {
                            count(&mut coverage.samples, 64, mask.count_ones().into());
                            all & mask
                        });
                        let inside = inside & pixels_inside(group[0], group[1], here);
                        if inside != 0 {
                            let pixels = inside | !pixels_inside(group[0], group[1], *image);
                            early.update_part(tile, GroupCoverage { group: group_number(group), pixels }, far);
                        }
                    }
                }
            },
        );
        if evaluated > 0 {
            count(&mut coverage.tiles_touched, evaluated.into(), tiles);
        }
    }
}

/// Counts evaluated elements, and covered ones.
fn count([evaluated, covered]: &mut [u64; 2], more: u64, of_them: u64) {
    (*evaluated, *covered) = (*evaluated + more, *covered + of_them);
}
