//! Coverage tests of tiles, groups and samples, with their counters.
//!
//! Source: DESIGN 3.4.

use vitric_base::counters::{Counter, Map, TileCounters};

use super::PrimitiveId;
use super::depth_group::GroupSample;
use super::group_tests::GroupTests;
use crate::raster::{Criterion, GROUP_LOG2, Shape, TILE_LOG2, Triangle, UNITS, pixels_inside};

/// Number of pixels, or of samples at one location of as many pixels, that one test evaluates.
const GROUP_PIXELS: u64 = 64;

/// Returns the counters for cells of `2^side_log2` pixels along a side: evaluated and covered
/// cells.
fn counters_of(side_log2: u32, criterion: Criterion) -> [Counter; 2] {
    match (side_log2, criterion) {
        (TILE_LOG2, Criterion::Inner | Criterion::Interior) => [Counter::TilesInner, Counter::TilesCovered],
        (TILE_LOG2, _) => [Counter::TilesConservative, Counter::TilesTouched],
        (GROUP_LOG2, Criterion::Inner | Criterion::Interior) => [Counter::GroupsInner, Counter::GroupsCovered],
        (GROUP_LOG2, _) => [Counter::GroupsConservative, Counter::GroupsTouched],
        (_, Criterion::Inner | Criterion::Interior) => [Counter::PixelsInner, Counter::PixelsCovered],
        (_, Criterion::Conservative | Criterion::Touching) => [Counter::PixelsConservative, Counter::PixelsTouched],
        (_, Criterion::Centre) => [Counter::SamplesStandard, Counter::SamplesCovered],
    }
}

fn count(counters: &TileCounters, pair: [Counter; 2], evaluated: u64, covered: u64) {
    counters.count(pair[0], evaluated);
    counters.count(pair[1], covered);
}

#[inline]
fn covers_cell(
    triangle: &Triangle,
    place: [i64; 2],
    side_log2: u32,
    criterion: Criterion,
    counters: Option<&TileCounters>,
) -> bool {
    let [x, y] = place.map(|pixel| (pixel >> side_log2 << side_log2) * UNITS);
    let covers = triangle.covers_cell(x, y, UNITS << side_log2, criterion);
    if let Some(counters) = counters {
        count(counters, counters_of(side_log2, criterion), 1, covers.into());
    }
    covers
}

/// Returns true if a triangle covers the tile that contains `pixel`. `criterion` must test areas,
/// so it must not be [`Criterion::Centre`].
pub(super) fn covers_tile(
    triangle: &Triangle,
    pixel: [i64; 2],
    criterion: Criterion,
    counters: Option<&TileCounters>,
) -> bool {
    covers_cell(triangle, pixel, TILE_LOG2, criterion, counters)
}

/// Returns true if a triangle covers the group that contains `pixel`. `criterion` must test areas,
/// so it must not be [`Criterion::Centre`].
#[inline]
pub(super) fn covers_group(
    triangle: &Triangle,
    pixel: [i64; 2],
    criterion: Criterion,
    counters: Option<&TileCounters>,
) -> bool {
    covers_cell(triangle, pixel, GROUP_LOG2, criterion, counters)
}

/// Groups of a tile, a bit each, in the order of a group's pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GroupMasks {
    /// Groups that a primitive touches.
    pub(super) touched: u64,
    /// Groups that a primitive covers completely.
    pub(super) covered: u64,
}

impl GroupMasks {
    /// Returns the groups of a tile that contain pixels of a window.
    pub(super) fn of_window([x0, y0, x1, y1]: [i64; 4]) -> u64 {
        let [left, top] = tile_corner([x0, y0]).map(|pixel| pixel >> GROUP_LOG2);
        let end = |pixel: i64| (pixel + (1 << GROUP_LOG2) - 1) >> GROUP_LOG2;
        pixels_inside(left, top, [x0 >> GROUP_LOG2, y0 >> GROUP_LOG2, end(x1), end(y1)])
    }

    /// Evaluates the groups of a tile that contain pixels of a window. The `outer` criterion finds
    /// touched groups. These are tested for complete coverage by the `inner` one, if there is one.
    pub(super) fn new(
        triangle: &Triangle,
        window: [i64; 4],
        (outer, inner): (Criterion, Option<Criterion>),
        counters: Option<&TileCounters>,
    ) -> Self {
        let (corner, inside) = (tile_corner([window[0], window[1]]), Self::of_window(window));
        let touched = triangle.covers_cells(corner, GROUP_LOG2, outer) & inside;
        let inner = inner.filter(|_| touched != 0);
        let covered = inner.map_or(0, |inner| triangle.covers_cells(corner, GROUP_LOG2, inner) & touched);
        if let Some(counters) = counters {
            let [inside, some, all] = [inside, touched, covered].map(|groups| groups.count_ones().into());
            count(counters, counters_of(GROUP_LOG2, outer), inside, some);
            if let Some(inner) = inner {
                count(counters, counters_of(GROUP_LOG2, inner), some, all);
            }
        }
        Self { touched, covered }
    }
}

/// Returns the first pixel of the tile that contains a pixel.
fn tile_corner(pixel: [i64; 2]) -> [i64; 2] {
    pixel.map(|pixel| pixel >> TILE_LOG2 << TILE_LOG2)
}

/// Returns the pixels of a group of which a triangle covers all samples. `locations` are the
/// sample positions in a pixel, in [`UNITS`].
pub(super) fn fully_covered(
    triangle: &Triangle,
    [x, y]: [i64; 2],
    locations: &[[i64; 2]],
    counters: Option<&TileCounters>,
) -> u64 {
    locations.iter().fold(u64::MAX, |all, &place| {
        let covered = triangle.covers_group(x, y, place);
        count_samples(counters, GROUP_PIXELS, covered);
        all & covered
    })
}

/// Counts evaluated and covered samples.
#[inline]
fn count_samples(counters: Option<&TileCounters>, evaluated: u64, covered: u64) {
    if let Some(counters) = counters {
        count(counters, counters_of(0, Criterion::Centre), evaluated, covered.count_ones().into());
    }
}

/// Counts fully covered groups in the rectangle from the first to the last group, as
/// [`Part::coverage`] counts one group.
pub(super) fn count_groups(counters: &TileCounters, places: [[u32; 2]; 2]) {
    counters.count(Counter::Groups, groups_between(places));
    counters.mark_all(Map::Overdraw, places, GROUP_PIXELS as u32);
}

/// Returns the number of groups in the rectangle from the first to the last group.
pub(super) fn groups_between([first, last]: [[u32; 2]; 2]) -> u64 {
    let along = |axis: usize| u64::from((last[axis] >> GROUP_LOG2) - (first[axis] >> GROUP_LOG2) + 1);
    along(0) * along(1)
}

/// A primitive with its exact coverage.
#[derive(Clone, Copy)]
pub(super) struct RasterPrimitive<'a> {
    pub(super) id: PrimitiveId,
    pub(super) triangle: &'a Triangle,
    /// The other triangles of a polygon.
    pub(super) rest: &'a [Triangle],
    pub(super) shape: &'a Shape,
}

/// The part of a primitive that lies in one group.
pub(super) struct Part<'a> {
    pub(super) primitive: RasterPrimitive<'a>,
    /// First pixel of the group.
    pub(super) group: [i64; 2],
    /// Pixels of the group that may be covered.
    pub(super) inside: u64,
    /// True if the primitive covers the whole group.
    pub(super) full: bool,
    /// Depth and stencil tests, if the whole group is tested at once.
    pub(super) tests: Option<GroupTests<'a>>,
}

impl Part<'_> {
    /// Returns the pixels whose sample at location `at` is covered. With a criterion other than
    /// the standard one, returns the pixels that this criterion covers.
    #[inline]
    pub(super) fn coverage(&self, criterion: Option<Criterion>, at: [i64; 2], counters: Option<&TileCounters>) -> u64 {
        let [x, y] = self.group;
        let covered = match criterion {
            _ if self.full => u64::MAX,
            None => {
                let covered = self.primitive.triangle.covers_group(x, y, at);
                count_samples(counters, GROUP_PIXELS, covered);
                covered
            }
            Some(criterion) => self.covered_by(criterion, counters),
        };
        let mask = covered & self.inside;
        if let Some(counters) = counters {
            counters.count(Counter::Groups, 1);
            counters.mark(Map::Overdraw, self.group.map(|pixel| pixel as u32), mask.count_ones());
        }
        mask
    }

    fn covered_by(&self, criterion: Criterion, counters: Option<&TileCounters>) -> u64 {
        let [x, y] = self.group;
        let by = |part: &Triangle| part.covers_group_by(x, y, criterion);
        let covered = self.primitive.rest.iter().fold(by(self.primitive.triangle), |all, part| all & by(part));
        if let Some(counters) = counters {
            count(counters, counters_of(0, criterion), GROUP_PIXELS, covered.count_ones().into());
        }
        covered
    }

    /// Returns the covered pixels whose sample passes the tests. Without group tests, returns
    /// `mask`.
    #[inline]
    pub(super) fn tested(&self, sample: u32, location: [i64; 2], mask: u64) -> u64 {
        match &self.tests {
            Some(tests) if mask != 0 => {
                let place = self.group.map(|pixel| pixel as u32);
                tests.test(self.primitive.shape, GroupSample { place, sample, location }, mask)
            }
            _ => mask,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raster::pixel_of_bit;

    /// The test triangle is the half of a tile above its diagonal.
    #[test]
    fn what_is_evaluated_is_counted_by_resolution_and_criterion() {
        let (counters, side) = (TileCounters::default(), 64 * UNITS);
        let half = Triangle::new([[0, 0], [side, 0], [0, side]]).unwrap();
        assert!(!covers_tile(&half, [40, 3], Criterion::Inner, Some(&counters)));
        for group in (0..64).map(|group| [group % 8 * 8, group / 8 * 8]) {
            let touched = covers_group(&half, group, Criterion::Conservative, Some(&counters));
            let covered = covers_group(&half, group, Criterion::Inner, Some(&counters));
            let diagonal = group[0] + group[1];
            assert_eq!((touched, covered), (diagonal <= 56, diagonal < 56), "{group:?}");
        }
        let together = TileCounters::default();
        let masks =
            GroupMasks::new(&half, [0, 0, 64, 64], (Criterion::Conservative, Some(Criterion::Inner)), Some(&together));
        for bit in 0..64 {
            let [x, y] = pixel_of_bit(bit).map(|group| group * 8);
            let expected = (x + y <= 56, x + y < 56);
            assert_eq!((masks.touched >> bit & 1 != 0, masks.covered >> bit & 1 != 0), expected, "({x}, {y})");
        }
        // A window that contains pixels of 5x5 groups, three of which the triangle touches. Without
        // a criterion, none is tested for complete coverage.
        GroupMasks::new(&half, [30, 31, 64, 64], (Criterion::Conservative, None), Some(&together));
        let groups = [(Criterion::Conservative, [64 + 25, 36 + 3]), (Criterion::Inner, [36, 28])];
        for (criterion, expected) in groups {
            let counted = counters_of(GROUP_LOG2, criterion).map(|counter| together.get(counter));
            assert_eq!(counted, expected, "{criterion:?}");
        }
        let shape = Shape::default();
        let part = Part {
            primitive: RasterPrimitive { id: 0, triangle: &half, rest: &[], shape: &shape },
            group: [56, 0],
            inside: u64::MAX,
            full: false,
            tests: None,
        };
        let masks = [None, Some(Criterion::Conservative), Some(Criterion::Inner)];
        let masks = masks.map(|criterion| part.coverage(criterion, [UNITS / 2; 2], Some(&counters)).count_ones());
        // The diagonal goes through the centres of eight pixels. They are not covered because it
        // is a lower right edge.
        assert_eq!(masks, [28, 36, 28]);
        let counted = |pair: [Counter; 2]| pair.map(|counter| counters.get(counter));
        assert_eq!(counted(counters_of(TILE_LOG2, Criterion::Inner)), [1, 0]);
        assert_eq!(counted(counters_of(GROUP_LOG2, Criterion::Conservative)), [64, 36]);
        assert_eq!(counted(counters_of(GROUP_LOG2, Criterion::Inner)), [64, 28]);
        assert_eq!(counted(counters_of(0, Criterion::Centre)), [64, 28]);
        assert_eq!(counted(counters_of(0, Criterion::Conservative)), [64, 36]);
        assert_eq!(counted(counters_of(0, Criterion::Inner)), [64, 28]);
        assert_eq!((counters.get(Counter::Groups), counters.get(Counter::Covered)), (3, 92));
    }
}
