//! Early Hi-Z: triangles of a window are tested before they are put into tiles, and update the
//! structure for later triangles.
//!
//! A triangle is not put into a tile in which it is hidden, and is not set up there. Updates by
//! the triangles of a draw take effect from the next draw on, so that windows of a draw can be
//! made at the same time. Source: DESIGN 3.2.

use std::ops::Range;

use super::Window;
use crate::geometry::Triangles;
use crate::hiz::{DepthDirection, DepthFormat, EarlyBounds, HizUpdate, HizUpdater, UpdateRules, depths_over};
use crate::raster::{Grid, Shape, TILE_LOG2, may_cover_group, within};

/// Number of trial tests of a window, and the least share of them, as a divisor, that must hide
/// triangles for tests to go on.
const TRIALS: [u32; 2] = [64, 8];

/// Early Hi-Z test of a draw.
#[derive(Clone, Copy)]
pub struct EarlyHizTest<'a> {
    early: &'a EarlyBounds,
    direction: DepthDirection,
    format: DepthFormat,
}

/// A triangle that may be hidden.
pub(super) struct Candidate {
    shape: Shape,
    pixels: [i64; 4],
    /// Nearness of its nearest corner.
    nearness: f32,
}

/// Counts of the tests of sorting a window into tiles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TestCounts {
    /// Pairs of triangle and tile whose coverage was evaluated.
    pub evaluated: u32,
    /// Evaluated pairs whose triangle touches the tile.
    pub touched: u32,
    /// Pairs that were tested against Hi-Z.
    pub queries: u32,
    /// Tested pairs whose triangle is hidden.
    pub kills: u32,
}

impl TestCounts {
    /// Returns true if more tests are expected to pay.
    fn pay(self) -> bool {
        let [trials, least] = TRIALS;
        self.queries < trials || self.kills * least >= self.queries
    }
}

/// Returns true if a triangle is so large that a test is expected to save more than it costs.
#[inline]
fn is_large(triangles: &Triangles, index: u32) -> bool {
    let [x0, y0, x1, y1] = triangles.pixels(index).map(i32::from);
    (x1 - x0).max(y1 - y0) >= 1 << TILE_LOG2
}

impl<'a> EarlyHizTest<'a> {
    /// Returns the test of draws that compare depths of a format in a direction. Returns `None` if
    /// the structure hides nothing.
    pub fn new(early: &'a EarlyBounds, direction: DepthDirection, format: DepthFormat) -> Option<Self> {
        let is_known = early.direction() == Some(direction) && early.may_hide(f32::INFINITY);
        is_known.then_some(Self { early, direction, format })
    }

    /// Returns the triangle if it may be hidden somewhere and tests have paid so far. Small
    /// triangles are tested in set-up, which takes less time for sixteen of them than a test here.
    #[inline]
    pub(super) fn candidate(&self, triangles: &Triangles, index: u32, tests: TestCounts) -> Option<Candidate> {
        if !is_large(triangles, index) {
            return None;
        }
        let nearness = triangles.depths(index).map(|depth| self.direction.nearness(depth));
        let nearness = nearness[0].min(nearness[1]).min(nearness[2]);
        if !self.early.may_hide(nearness) || !tests.pay() {
            return None;
        }
        Some(Candidate { shape: triangles.shape(index), pixels: triangles.pixels(index).map(i64::from), nearness })
    }

    /// Returns true if any triangle is large enough to be tested.
    pub fn takes_any(triangles: &Triangles) -> bool {
        (0..triangles.len() as u32).any(|index| is_large(triangles, index))
    }

    /// Returns true if a triangle is hidden in a tile, whose pixels are `area`.
    pub(super) fn hides(&self, tile: usize, area: [i64; 4], candidate: &Candidate, tests: &mut TestCounts) -> bool {
        if !self.early.may_hide_in(tile, candidate.nearness) {
            return false;
        }
        let pixels = within(candidate.pixels, area);
        if pixels[0] >= pixels[2] || pixels[1] >= pixels[3] {
            return false;
        }
        let range = depths_over(&candidate.shape, pixels, self.format);
        let hidden = self.early.hides(tile, pixels, self.direction.nearness(self.direction.near(range)));
        tests.queries += 1;
        tests.kills += u32::from(hidden);
        hidden
    }
}

/// Updates the structure by a window's triangles, of those draws, by number, that update it in its
/// direction. Returns the number of triangles that did.
pub fn update_hiz(
    early: &mut EarlyBounds,
    window: &Window,
    grid: &Grid,
    update_rules: impl Fn(usize) -> UpdateRules,
) -> u32 {
    let mut start = 0;
    let runs = window.runs.iter().map(|run| (std::mem::replace(&mut start, run.end)..run.end, run.draw.state as usize));
    runs.map(|(range, draw)| update_by_run(early, (window, range), grid, &update_rules(draw))).sum()
}

fn update_by_run(
    early: &mut EarlyBounds,
    (window, range): (&Window, Range<u32>),
    grid: &Grid,
    update_rules: &UpdateRules,
) -> u32 {
    let Some(direction) = early.direction().filter(|_| update_rules.visibility.updates_hiz) else { return 0 };
    if update_rules.visibility.tests != Some(direction) {
        return 0;
    }
    let mut updated = 0;
    let triangles = &window.triangles;
    let Some(mut updater) = HizUpdater::new(early, grid, window.layer(), update_rules, &[]) else { return 0 };
    for index in range {
        let pixels = triangles.pixels(index).map(i64::from);
        // A part covers pixels that its polygon does not cover.
        if may_cover_group(pixels) && !triangles.is_polygon(index) {
            let triangle = triangles.triangle(index);
            if !triangle.may_cover_group() {
                continue;
            }
            updater.apply(&HizUpdate { triangle, shape: triangles.shape(index), pixels });
            updated += 1;
        }
    }
    updated
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Clip, DrawId, Run, Runs};
    use super::*;
    use crate::hiz::{Bounds, DepthRange, Hierarchy, Hiz, OcclusionTest, Visibility, apply_updates};
    use crate::raster::UNITS;
    use ash::vk;

    const SIZE: [u32; 2] = [150, 90];
    const FORMAT: DepthFormat = DepthFormat { bits: 32, samples: 1 };

    /// Triangles of depths that change little.
    fn triangles(many: usize, size: f32) -> impl Strategy<Value = Vec<[[f32; 3]; 3]>> {
        let corner = (-size..size, -size..size, -0.03f32..0.03);
        let triangle = (0.0f32..150.0, 0.0f32..90.0, 0.05f32..0.95, prop::array::uniform3(corner));
        let placed = triangle.prop_map(|(x, y, z, corners)| corners.map(|(dx, dy, dz)| [x + dx, y + dy, z + dz]));
        prop::collection::vec(placed, 1..many)
    }

    /// Depths of the pixels of a triangle.
    fn pixels(triangles: &Triangles, index: u32, area: [i64; 4]) -> Vec<([i64; 2], f32)> {
        let ([x0, y0, x1, y1], half) = (within(triangles.pixels(index).map(i64::from), area), UNITS / 2);
        let (triangle, shape) = (triangles.triangle(index), triangles.shape(index));
        let all = (y0..y1).flat_map(|y| (x0..x1).map(move |x| [x, y]));
        let covered = all.filter(|[x, y]| triangle.covers_point(x * UNITS + half, y * UNITS + half));
        let depth = |[x, y]: [i64; 2]| {
            let [dx, dy] = [x as f32 - shape.reference[0] + 0.5, y as f32 - shape.reference[1] + 0.5];
            let [near, far] = shape.depth_range;
            shape.depth.at(dx, dy).clamp(near, far)
        };
        covered.map(|pixel| (pixel, depth(pixel))).collect()
    }

    fn window(corners: &[[[f32; 3]; 3]], grid: &Grid, early_hiz: Option<EarlyHizTest<'_>>) -> Window {
        let mut triangles = Triangles::default();
        let pushed = corners.iter().filter(|corners| triangles.push_corners(**corners)).count();
        assert_eq!(pushed, triangles.len());
        let runs = Runs::from_slice(&[Run { end: triangles.len() as u32, draw: DrawId { state: 0, sample: None } }]);
        Window { runs, ..Window::new(triangles, grid, &[Clip::of_all(grid.area())], early_hiz) }
    }

    /// Returns the updates of the triangles of a window.
    fn updates(window: &Window) -> Vec<HizUpdate> {
        let of = &window.triangles;
        let update = |index| HizUpdate {
            triangle: of.triangle(index),
            shape: of.shape(index),
            pixels: of.pixels(index).map(i64::from),
        };
        (0..of.len() as u32).map(update).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        /// A triangle that is not put into a tile fails every depth test there after earlier ones.
        #[test]
        fn what_is_hidden_is_behind(
            large in triangles(12, 200.0), small in triangles(40, 90.0), cleared in 0.5f32..1.0, greater in any::<bool>(),
            area in prop::sample::select(vec![[0i64, 0, 150, 90], [5, 9, 131, 90]]),
        ) {
            let (direction, op) = match greater {
                true => (DepthDirection::Greater, vk::CompareOp::GREATER),
                false => (DepthDirection::Less, vk::CompareOp::LESS_OR_EQUAL),
            };
            let cleared = if greater { 1.0 - cleared } else { cleared };
            let (grid, hierarchy) = (Grid::new(area, 1), Hierarchy::new(SIZE, Hiz::Always));
            hierarchy.clear([0, 0, 150, 90], cleared);
            let mut early = EarlyBounds::default();
            early.begin(direction, grid.places().map(|(_, pixel)| hierarchy.tile(pixel)));
            let visibility = Visibility { tests: Some(direction), updates_hiz: true, looks_ahead: true, writes: Some(op) };
            let extent = SIZE.map(i64::from);
            let update_rules = UpdateRules { visibility, scissor: [0, 0, 140, 90], format: FORMAT, extent };
            let first = window(&large, &grid, None);
            update_hiz(&mut early, &first, &grid, |_| update_rules);
            let mut model = vec![cleared; 150 * 90];
            for index in 0..first.triangles.len() as u32 {
                for ([x, y], depth) in pixels(&first.triangles, index, within(area, [0, 0, 140, 90])) {
                    let stored = &mut model[(y * 150 + x) as usize];
                    *stored = if greater { depth.max(*stored) } else { depth.min(*stored) };
                }
            }
            let test = EarlyHizTest::new(&early, direction, FORMAT).unwrap();
            let second = window(&small, &grid, Some(test));
            for index in 0..second.triangles.len() as u32 {
                for ([x, y], depth) in pixels(&second.triangles, index, area) {
                    let [left, top] = [x >> TILE_LOG2, y >> TILE_LOG2];
                    let columns = ((area[2] - 1) >> TILE_LOG2) - (area[0] >> TILE_LOG2) + 1;
                    let tile = ((top - (area[1] >> TILE_LOG2)) * columns + left - (area[0] >> TILE_LOG2)) as usize;
                    let stored = model[(y * 150 + x) as usize];
                    let passes = if greater { depth > stored } else { depth <= stored };
                    prop_assert!(!passes || second.in_tile(tile).contains(&(index as u16)));
                }
            }
            // Repeat the check with updates of parts of groups, where a triangle is hidden as a
            // whole or not at all.
            apply_updates(&mut early, &updates(&first), &grid, (&update_rules, &[[UNITS / 2; 2]]));
            let hiding = OcclusionTest::new(&early, &grid, [0, 0, 140, 90], (32, DepthRange { min: 0.0, max: 1.0 })).unwrap();
            for index in 0..second.triangles.len() as u32 {
                let depths = second.triangles.depths(index);
                let (min, max) = (depths.into_iter().fold(1.0, f32::min), depths.into_iter().fold(0.0, f32::max));
                let bounds = hiding.touchable(second.triangles.pixels(index).map(i64::from));
                let is_hidden = bounds.is_none_or(|bounds| hiding.hides(bounds, DepthRange { min, max }));
                for ([x, y], depth) in pixels(&second.triangles, index, within(area, [0, 0, 140, 90])) {
                    let stored = model[(y * 150 + x) as usize];
                    let passes = if greater { depth > stored } else { depth <= stored };
                    prop_assert!(!(passes && is_hidden));
                }
            }
        }
    }

    #[test]
    fn what_lies_behind_a_wall_is_put_nowhere() {
        let (grid, hierarchy) = (Grid::new([0, 0, 150, 90], 1), Hierarchy::new(SIZE, Hiz::Always));
        hierarchy.clear([0, 0, 150, 90], 1.0);
        let mut early = EarlyBounds::default();
        early.begin(DepthDirection::Less, grid.places().map(|(_, pixel)| hierarchy.tile(pixel)));
        assert!(EarlyHizTest::new(&early, DepthDirection::Greater, FORMAT).is_none());
        let visibility =
            Visibility { tests: Some(DepthDirection::Less), updates_hiz: true, looks_ahead: false, writes: None };
        let mut update_rules =
            UpdateRules { visibility, scissor: [0, 0, 150, 90], format: FORMAT, extent: SIZE.map(i64::from) };
        let wall = [[0.0, -1.0, 0.5], [400.0, -1.0, 0.5], [0.0, 300.0, 0.5]];
        let wall = window(&[wall], &grid, None);
        let behind = [[10.0, 10.0, 0.6], [90.0, 10.0, 0.6], [10.0, 20.0, 0.6]];
        let before = behind.map(|[x, y, _]| [x, y, 0.4]);
        for (updates_hiz, tiles) in [(false, 2), (true, 0)] {
            update_rules.visibility.updates_hiz = updates_hiz;
            update_hiz(&mut early, &wall, &grid, |_| update_rules);
            let test = EarlyHizTest::new(&early, DepthDirection::Less, FORMAT);
            let window = window(&[behind, before], &grid, test);
            let holds = |index| (0..grid.count()).filter(|&tile| window.in_tile(tile).contains(&index)).count();
            assert_eq!((holds(0), holds(1)), (tiles, 2));
            assert_eq!(window.tests.kills, 2 - tiles as u32);
        }
        let hiding =
            OcclusionTest::new(&early, &grid, [0, 0, 100, 90], (32, DepthRange { min: 0.0, max: 1.0 })).unwrap();
        assert_eq!(hiding.touchable([99, 9, 200, 200]), Some([99, 9, 100, 90]));
        assert_eq!(hiding.touchable([100, 9, 200, 200]), None);
        let hides = |pixels, min| hiding.hides(pixels, DepthRange { min, max: 0.6 });
        assert!(hides([0, 0, 100, 90], 0.51) && !hides([0, 0, 1, 1], 0.5));
        let bounds: Option<&Bounds> = None;
        early.begin(DepthDirection::Less, std::iter::once(bounds));
        assert!(EarlyHizTest::new(&early, DepthDirection::Less, FORMAT).is_none(), "nothing is known of any tile");
    }
}
