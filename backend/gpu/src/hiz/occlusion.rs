//! Tests of primitives in front of the tiler, and updates by triangles for later primitives.

use vitric_base::simd::kernel;
use vitric_format::stored_depth;

use super::{
    DepthDirection, DepthFormat, DepthRange, EarlyBounds, GROUPS, GROUPS_LOG2, GroupCoverage, GroupRect, Visibility,
    as_stored, depths_over, is_empty, pixels_of_group, sample_span,
};
use crate::raster::{
    Criterion, GROUP_LOG2, Grid, Plane, Shape, TILE_LOG2, Triangle, UNITS, by_rows, pixels_inside, within,
};

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
        let covers = |[x, y]: [i64; 2]| triangle.covers_cell(x * UNITS, y * UNITS, UNITS << TILE_LOG2, *full);
        let side = 1 << TILE_LOG2;
        let in_image = |[x, y]: [i64; 2]| within([x, y, x + side, y + side], *image);
        let mut tiles = 0;
        let evaluated = grid.touched_by(
            *pixels,
            &grid.tiles_within(*clip),
            || (*triangle, Criterion::Conservative),
            |tile| {
                tiles += 1;
                let [left, top, ..] = grid.pixels(tile);
                let corner = [left, top].map(|pixel| pixel >> TILE_LOG2 << TILE_LOG2);
                let (tile, whole) = (*first_tile + tile, in_image(corner));
                let here = within(touched, whole);
                if is_empty(here) {
                    return;
                }
                let [nearest, farthest] = nearness(here);
                // Where the triangle is hidden no pixel becomes nearer.
                if early.hides(tile, GroupRect::of(here), nearest) {
                    return;
                }
                if here == whole {
                    let is_covered = covers(corner);
                    count(&mut coverage.tiles_inner, 1, is_covered.into());
                    if is_covered {
                        return early.update_tile(tile, farthest);
                    }
                }
                let farthest = FarDepths::new(shape, corner, here, *format).by_group(*direction);
                let gaining = GroupRect::of(here).mask() & early.gaining_groups(tile, &farthest);
                let evaluated = gaining & whole_groups(here, *image);
                let covered = match evaluated {
                    0 => 0,
                    groups => groups & by_rows(triangle.covers_cells(corner, GROUP_LOG2, *full)),
                };
                count(&mut coverage.groups_inner, evaluated.count_ones().into(), covered.count_ones().into());
                early.update_groups(tile, covered, &farthest);
                let mut partial = if locations.is_empty() { 0 } else { gaining & !covered };
                while partial != 0 {
                    let group = partial.trailing_zeros() as usize;
                    partial &= partial - 1;
                    let [x, y, ..] = pixels_of_group(corner, group);
                    let masks = locations.iter().map(|at| triangle.covers_group(x, y, *at));
                    let inside = masks.fold(u64::MAX, |all, mask| {
                        count(&mut coverage.samples, 64, mask.count_ones().into());
                        all & mask
                    });
                    let inside = inside & pixels_inside(x, y, here);
                    if inside != 0 {
                        let pixels = inside | !pixels_inside(x, y, *image);
                        early.update_part(tile, GroupCoverage { group, pixels }, farthest[group]);
                    }
                }
            },
        );
        if evaluated > 0 {
            count(&mut coverage.tiles_touched, evaluated.into(), tiles);
        }
    }
}

/// Number of groups along a tile's side.
const SIDE_GROUPS: usize = 1 << GROUPS_LOG2;

/// Planes of depth over the pixels of the groups of a tile, to find the farthest depth of each
/// group.
#[derive(Clone, Copy)]
struct FarDepths {
    depth: Plane,
    /// Least and greatest depth.
    range: [f32; 2],
    /// Distances of the first and the last place of each column of groups from the reference.
    xs: [[f32; SIDE_GROUPS]; 2],
    /// Distances of the first and the last place of each row of groups.
    ys: [[f32; SIDE_GROUPS]; 2],
    depth_bits: u32,
}

impl FarDepths {
    /// Returns the depths of a primitive in pixels `here` of a tile. `corner` is the tile's first
    /// pixel.
    fn new(shape: &Shape, corner: [i64; 2], here: [i64; 4], format: DepthFormat) -> Self {
        let span = sample_span(format);
        let along = |axis: usize| {
            let mut places = [[0.0; SIDE_GROUPS]; 2];
            let [starts, ends] = &mut places;
            for (group, (start, end)) in starts.iter_mut().zip(ends).enumerate() {
                let first = corner[axis] + ((group as i64) << GROUP_LOG2);
                let [low, high] = [first.max(here[axis]), (first + (1 << GROUP_LOG2)).min(here[axis + 2])];
                *start = low as f32 - shape.reference[axis] + span[0];
                *end = (high - 1) as f32 - shape.reference[axis] + span[1];
            }
            places
        };
        let (depth, range) = (shape.depth, shape.depth_range);
        Self { depth, range, xs: along(0), ys: along(1), depth_bits: format.bits }
    }

    /// Returns the nearness of the farthest stored depth of each group, by its number. Groups
    /// without pixels have any value.
    #[inline]
    fn by_group(&self, direction: DepthDirection) -> [f32; GROUPS] {
        farthest(self, direction.nearness(1.0))
    }
}

#[inline(always)]
fn farthest_of_groups(depths: &FarDepths, sign: f32) -> [f32; GROUPS] {
    let FarDepths { depth, range: [near, far], xs, ys, depth_bits } = *depths;
    let mut farthest = [0.0; GROUPS];
    for row in 0..SIDE_GROUPS {
        for column in 0..SIDE_GROUPS {
            // The operations are those of `depths_over`.
            let at = |x: usize, y: usize| depth.at(xs[x][column], ys[y][row]).max(near).min(far) * sign;
            farthest[row << GROUPS_LOG2 | column] = at(0, 0).max(at(1, 0)).max(at(0, 1).max(at(1, 1)));
        }
    }
    if depth_bits != 32 {
        farthest.iter_mut().for_each(|nearness| *nearness = stored_depth(depth_bits, *nearness * sign) * sign);
    }
    farthest
}

kernel!(
    /// Returns the nearness of the farthest stored depth of each group. `sign` is the factor from
    /// depth to nearness, 1 or -1.
    farthest, farthest_of_groups, (depths: &FarDepths, sign: f32) -> [f32; GROUPS]
);

/// Returns a bit for each group of a tile of which all pixels in the image are in `here`, which are
/// pixels of the tile.
fn whole_groups([x0, y0, x1, y1]: [i64; 4], image: [i64; 4]) -> u64 {
    let last = (1 << GROUP_LOG2) - 1;
    let first = |pixel: i64| (pixel + last) & !last;
    // The last group of a row may reach out of the image.
    let end = |pixel: i64, limit: i64| if pixel == limit { pixel } else { pixel & !last };
    let whole = [first(x0), first(y0), end(x1, image[2]), end(y1, image[3])];
    if is_empty(whole) { 0 } else { GroupRect::of(whole).mask() }
}

/// Counts evaluated elements, and covered ones.
fn count([evaluated, covered]: &mut [u64; 2], more: u64, of_them: u64) {
    (*evaluated, *covered) = (*evaluated + more, *covered + of_them);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The farthest depths of a tile's groups equal those that are computed group by group.
        #[test]
        fn groups_are_found_at_once(
            origin in -1.0f32..2.0, slopes in [-0.05f32..0.05, -0.05f32..0.05], bits in prop::sample::select(vec![16u32, 24, 32]),
            samples in prop::sample::select(vec![1u32, 4]), greater in any::<bool>(),
            window in [0i64..64, 0i64..64, 1i64..65, 1i64..65], extent in [129i64..260, 65i64..130],
        ) {
            let direction = if greater { DepthDirection::Greater } else { DepthDirection::Less };
            let depth = Plane { origin, dx: slopes[0], dy: slopes[1] };
            let shape = Shape { reference: [140.3, 90.9], depth, depth_range: [0.1, 0.9], ..Shape::default() };
            let (corner, image) = ([128, 64], [0, 0, extent[0], extent[1]]);
            let [x, y, width, height] = window;
            let here = within([128 + x, 64 + y, 128 + x + width, 64 + y + height], within(image, [128, 64, 192, 128]));
            prop_assume!(!is_empty(here));
            let format = DepthFormat { bits, samples };
            let farthest = FarDepths::new(&shape, corner, here, format).by_group(direction);
            let (touched, whole) = (GroupRect::of(here).mask(), whole_groups(here, image));
            for (group, &found) in farthest.iter().enumerate() {
                let pixels = pixels_of_group(corner, group);
                let inside = within(pixels, here);
                prop_assert_eq!(touched >> group & 1 != 0, !is_empty(inside));
                let is_whole = !is_empty(inside) && inside == within(pixels, image);
                prop_assert_eq!(whole >> group & 1 != 0, is_whole, "{:?} {:?}", here, image);
                if !is_empty(inside) {
                    let expected = direction.nearness(direction.far(depths_over(&shape, inside, format)));
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }
}
