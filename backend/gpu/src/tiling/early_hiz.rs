//! Early Hi-Z: triangles of a window are tested before they are put into tiles, and update the
//! structure for later triangles.
//!
//! Sixteen consecutive triangles are a block. The block is tested as a whole first, by the pixels
//! that contain all its triangles and by its nearest corner. If it may be visible, its triangles
//! are tested one by one: those in one tile by their nearest corner, longer ones tile by tile. In
//! tiles that a long triangle crosses, it is tested group by group until one group may show it. A
//! triangle is not put into a tile in which it is hidden, and is not set up there. Source:
//! DESIGN 3.2.

use std::cell::OnceCell;
use std::ops::Range;

use vitric_base::simd::{Lanes, WAVE, kernel};

use super::{Run, TriangleRun};
use crate::geometry::{Pixels, TestLanes, Triangles};
use crate::hiz::{
    DepthDirection, DepthFormat, DepthRange, EarlyBounds, GROUPS, GroupRect, HizHeuristic, HizUpdate, HizUpdater,
    UpdateRules, Visibility, as_stored, depths_over, pixels_of_group,
};
use crate::raster::{GROUP_LOG2, Grid, Shape, TILE_LOG2, UNITS, may_cover_group, within};

/// Cost of reading and testing a block, in tests of a triangle.
const BLOCK_COST: u32 = 6;

/// Maximum number of columns and of rows of tiles in which a block is tested as a whole.
const MAX_BLOCK_TILES: i64 = 2;

/// Early Hi-Z test of a draw.
#[derive(Clone, Copy)]
pub struct EarlyHizTest<'a> {
    early: &'a EarlyBounds,
    direction: DepthDirection,
    format: DepthFormat,
}

/// A triangle that touches several tiles and may be hidden in some of them.
pub(super) struct Candidate<'t> {
    triangles: &'t Triangles,
    index: u32,
    pixels: [i64; 4],
    /// Nearness of its nearest corner and of its farthest one.
    nearness: [f32; 2],
    /// True if no fragment is nearer than the first and none farther than the second.
    within_corners: bool,
    shape: OnceCell<Shape>,
}

impl Candidate<'_> {
    /// Returns true if the triangle is so long that tests with its slope are expected to pay.
    fn is_long(&self) -> bool {
        let [x0, y0, x1, y1] = self.pixels;
        (x1 - x0).max(y1 - y0) >= 1 << TILE_LOG2
    }

    /// Returns the nearness that must be behind some bound for a test to find anything hidden.
    fn testable(&self) -> f32 {
        self.nearness[usize::from(self.is_long())]
    }
}

/// Counts of the tests of sorting a window into tiles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TestCounts {
    /// Pairs of triangle and tile whose coverage was evaluated.
    pub evaluated: u32,
    /// Evaluated pairs whose triangle touches the tile.
    pub touched: u32,
    /// Blocks that were tested as a whole.
    pub block_queries: u32,
    /// Blocks that were hidden as a whole.
    pub block_kills: u32,
    /// Pairs of triangle and tile that were tested, also those of blocks that are hidden.
    pub queries: u32,
    /// Tested pairs whose triangle is hidden.
    pub kills: u32,
    /// Groups that hide a triangle in tiles that it is put into.
    pub group_kills: u32,
}

/// Tests of a window's triangles and their results.
#[derive(Debug, Default)]
pub(super) struct WindowTests {
    pub(super) counts: TestCounts,
    /// Estimate whether tests pay.
    pub(super) heuristic: Option<HizHeuristic>,
    /// Pixels of hidden parts of triangles, if they are wanted.
    pub(super) hidden: Option<Vec<Pixels>>,
    lanes: TestLanes,
}

impl WindowTests {
    /// Returns tests with an estimate whether they pay. With `records`, hidden parts are recorded.
    pub(super) fn new(heuristic: Option<HizHeuristic>, records: bool) -> Self {
        Self { heuristic, hidden: records.then(Vec::new), ..Self::default() }
    }

    /// Returns true if a block of triangles is tested.
    fn allows(&mut self, triangles: u32) -> bool {
        let Some(heuristic) = &mut self.heuristic else { return false };
        heuristic.count_primitives(triangles);
        heuristic.allows_tests()
    }

    /// Counts triangles that are not tested because tests pause. Returns false if tests do not
    /// pause for all of them.
    pub(super) fn skip(&mut self, triangles: u32) -> bool {
        let paused = self.heuristic.as_mut().filter(|heuristic| heuristic.is_paused_for(triangles));
        paused.is_some_and(|heuristic| {
            heuristic.count_primitives(triangles);
            true
        })
    }

    /// Counts the cost of tests and the pairs of triangle and tile that they kept out.
    fn count(&mut self, cost: u32, kills: u32) {
        self.counts.kills += kills;
        self.heuristic.iter_mut().for_each(|heuristic| heuristic.count_tests(cost, kills));
    }

    /// Records the pixels of a hidden part of a triangle.
    fn record(&mut self, pixels: [i64; 4]) {
        if let Some(hidden) = &mut self.hidden {
            hidden.push(pixels.map(|pixel| pixel as i16));
        }
    }
}

/// The triangles of a block as one.
struct BlockBounds {
    /// Nearness of each triangle's nearest corner.
    nearness: [f32; WAVE],
    /// Least and greatest nearness of these.
    range: DepthRange,
    /// Pixels that any triangle may cover.
    pixels: [i64; 4],
}

/// Conversion of depths to nearness: the factor of depths, and the range of nearness.
#[derive(Clone, Copy)]
struct ToNearness {
    sign: f32,
    range: [f32; 2],
}

#[inline(always)]
fn block_bounds_lanes(lanes: &TestLanes, by: ToNearness) -> BlockBounds {
    let mut nearness = [0.0; WAVE];
    let [a, b, c] = &lanes.depths;
    for lane in 0..WAVE {
        let nearest = (a[lane] * by.sign).min(b[lane] * by.sign).min(c[lane] * by.sign);
        nearness[lane] = nearest.max(by.range[0]).min(by.range[1]);
    }
    let (mut low, mut high) = ([i32::MAX; 2], [i32::MIN; 2]);
    let low_half = |word: u32| i32::from(word as i16);
    let high_half = |word: u32| word as i32 >> 16;
    let [first, end] = &lanes.pixels;
    let (mut min, mut max) = (f32::INFINITY, f32::NEG_INFINITY);
    for lane in 0..WAVE {
        low = [low[0].min(low_half(first[lane])), low[1].min(high_half(first[lane]))];
        high = [high[0].max(low_half(end[lane])), high[1].max(high_half(end[lane]))];
        min = if nearness[lane] < min { nearness[lane] } else { min };
        max = if nearness[lane] > max { nearness[lane] } else { max };
    }
    let pixels = [low[0], low[1], high[0], high[1]].map(i64::from);
    BlockBounds { nearness, range: DepthRange { min, max }, pixels }
}

kernel!(
    /// Returns the bounds of a block.
    block_bounds, block_bounds_lanes, (lanes: &TestLanes, by: ToNearness) -> BlockBounds
);

#[inline(always)]
fn farther_lanes(nearness: &[f32; WAVE], bound: f32) -> u32 {
    let mut bits = 0;
    for (lane, &nearness) in nearness.iter().enumerate() {
        bits |= u32::from(nearness > bound) << lane;
    }
    bits
}

kernel!(
    /// Returns the lanes whose nearness is farther than a bound.
    farther, farther_lanes, (nearness: &[f32; WAVE], bound: f32) -> u32
);

/// A block of triangles, and the tiles that they may be drawn to.
#[derive(Clone, Copy)]
pub(super) struct TriangleBlock<'t> {
    pub(super) triangles: &'t Triangles,
    /// Numbers of the triangles, at most sixteen.
    pub(super) range: &'t Range<u32>,
    pub(super) grid: &'t Grid,
    /// Pixels of the grid that the triangles may touch.
    pub(super) clip: [i64; 4],
}

impl TriangleBlock<'_> {
    /// Returns the pixels of a lane's triangle.
    fn pixels(pixels: &[Lanes; 2], lane: usize) -> [i64; 4] {
        let (first, end) = (pixels[0][lane], pixels[1][lane]);
        [first as i16, (first >> 16) as i16, end as i16, (end >> 16) as i16].map(i64::from)
    }

    /// Returns the number of the layer's first tile.
    fn first_tile(&self) -> usize {
        self.triangles.layer() as usize * self.grid.count()
    }
}

impl<'a> EarlyHizTest<'a> {
    /// Returns the test of draws that compare depths of a format in a direction. Returns `None` if
    /// the structure hides nothing.
    pub fn new(early: &'a EarlyBounds, direction: DepthDirection, format: DepthFormat) -> Option<Self> {
        let is_known = early.direction() == Some(direction) && early.may_hide(f32::INFINITY);
        is_known.then_some(Self { early, direction, format })
    }

    /// Returns the nearness of a depth as the attachment stores it, both given as nearness.
    #[inline]
    fn stored(&self, nearness: f32) -> f32 {
        match self.format.bits {
            32 => nearness,
            bits => self.direction.nearness(as_stored(DepthRange::of(self.direction.nearness(nearness)), bits).min),
        }
    }

    /// Returns the lanes of a block's triangles that must be put into tiles, or `None` if the block
    /// was not tested. Others are hidden.
    #[inline]
    pub(super) fn visible_lanes(&self, block: TriangleBlock<'_>, tests: &mut WindowTests) -> Option<u32> {
        tests.allows(block.range.len() as u32).then(|| self.test_block(block, tests))
    }

    /// Returns true if any triangle may be hidden. After a clear nothing is hidden until something
    /// is drawn.
    pub(super) fn may_hide_any(&self, triangles: &Triangles) -> bool {
        self.early.may_hide(self.farthest(triangles))
    }

    /// Returns the nearness of the farthest depth that a triangle may have.
    fn farthest(&self, triangles: &Triangles) -> f32 {
        let [near, far] = triangles.depth_limits().0.map(|depth| self.direction.nearness(depth));
        near.max(far)
    }

    #[inline(never)]
    fn test_block(&self, block: TriangleBlock<'_>, tests: &mut WindowTests) -> u32 {
        let TriangleBlock { triangles, range, grid, clip } = block;
        let all = (1 << range.len()) - 1;
        triangles.read_lanes(range.clone(), &mut tests.lanes);
        let ([near, far], within_corners) = triangles.depth_limits();
        let ends = [near, far].map(|depth| self.direction.nearness(depth));
        let by = ToNearness { sign: self.direction.nearness(1.0), range: [ends[0].min(ends[1]), ends[0].max(ends[1])] };
        let bounds = block_bounds(&tests.lanes, by);
        if !self.early.may_hide(self.stored(bounds.range.max)) && within_corners {
            tests.count(BLOCK_COST, 0);
            return all;
        }
        let mut lanes = all;
        let pixels = within(bounds.pixels, clip);
        let [first, last] = Grid::corners(pixels);
        let is_compact = (0..2).all(|axis| (0..MAX_BLOCK_TILES).contains(&(last[axis] - first[axis])));
        if within_corners && is_compact && pixels[0] < pixels[2] && pixels[1] < pixels[3] {
            tests.counts.block_queries += 1;
            if self.hides_all(block, pixels, self.stored(bounds.range.min)) {
                return self.kill_block(block, tests);
            }
            let tiles = (first[1]..=last[1]).flat_map(|row| (first[0]..=last[0]).map(move |column| [column, row]));
            let nearest = tiles.map(|place| self.early.nearest(block.first_tile() + grid.number(place)));
            lanes &= farther(&bounds.nearness, nearest.fold(f32::INFINITY, f32::min));
        }
        let (mut queries, mut kills) = (0, 0);
        let mut hidden = 0;
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            let pixels = within(TriangleBlock::pixels(&tests.lanes.pixels, lane), clip);
            if pixels[0] >= pixels[2] || pixels[1] >= pixels[3] {
                continue;
            }
            let [first, last] = Grid::corners(pixels);
            let tile = block.first_tile() + grid.number(first);
            if first != last || !self.early.may_hide_in(tile, bounds.nearness[lane]) {
                continue;
            }
            let nearness = match within_corners {
                true => self.stored(bounds.nearness[lane]),
                false => {
                    let shape = triangles.shape(range.start + lane as u32);
                    self.direction.nearness(self.direction.near(depths_over(&shape, pixels, self.format)))
                }
            };
            queries += 1;
            if self.early.hides(tile, GroupRect::of(pixels), nearness) {
                (hidden, kills) = (hidden | 1 << lane, kills + 1);
                tests.record(pixels);
            }
        }
        tests.counts.queries += queries;
        tests.count(BLOCK_COST + queries, kills);
        all & !hidden
    }

    /// Returns true if all pixels of a rectangle hide depths of a nearness and farther ones.
    fn hides_all(&self, block: TriangleBlock<'_>, pixels: [i64; 4], nearness: f32) -> bool {
        let [first, last] = Grid::corners(pixels);
        (first[1]..=last[1]).all(|row| {
            (first[0]..=last[0]).all(|column| {
                let number = block.grid.number([column, row]);
                let here = within(pixels, block.grid.pixels(number));
                self.early.hides(block.first_tile() + number, GroupRect::of(here), nearness)
            })
        })
    }

    /// Counts a hidden block. Returns no lanes.
    #[cold]
    fn kill_block(&self, TriangleBlock { range, clip, .. }: TriangleBlock<'_>, tests: &mut WindowTests) -> u32 {
        let mut kills = 0;
        for lane in 0..range.len() {
            let pixels = within(TriangleBlock::pixels(&tests.lanes.pixels, lane), clip);
            if pixels[0] < pixels[2] && pixels[1] < pixels[3] {
                let [first, last] = Grid::corners(pixels);
                kills += ((last[0] - first[0] + 1) * (last[1] - first[1] + 1)) as u32;
                tests.record(pixels);
            }
        }
        tests.counts.block_kills += 1;
        tests.counts.queries += kills;
        tests.count(BLOCK_COST, kills);
        0
    }

    /// Returns a triangle that touches several tiles if it may be hidden in some of them.
    #[inline]
    pub(super) fn candidate<'t>(&self, triangles: &'t Triangles, index: u32) -> Option<Candidate<'t>> {
        let ([near, far], within_corners) = triangles.depth_limits();
        let depths = triangles.depths(index).map(|depth| self.direction.nearness(depth.max(near).min(far)));
        let nearness = [depths[0].min(depths[1]).min(depths[2]), depths[0].max(depths[1]).max(depths[2])];
        let pixels = triangles.pixels(index).map(i64::from);
        let candidate = Candidate { triangles, index, pixels, nearness, within_corners, shape: OnceCell::new() };
        self.early.may_hide(candidate.testable()).then_some(candidate)
    }

    /// Returns the groups of a tile, as bits, that may show a triangle, given the tile's number and
    /// pixels. If no group is known to hide the triangle, returns all groups.
    pub(super) fn visible_groups(
        &self,
        (tile, area): (usize, [i64; 4]),
        candidate: &Candidate<'_>,
        tests: &mut WindowTests,
    ) -> u64 {
        let pixels = within(candidate.pixels, area);
        if !self.early.may_hide_in(tile, candidate.testable()) || pixels[0] >= pixels[2] || pixels[1] >= pixels[3] {
            return u64::MAX;
        }
        let touched = GroupRect::of(pixels).mask();
        let (within_corners, is_long) = (candidate.within_corners, candidate.is_long());
        let mut visible = touched;
        if within_corners {
            visible &= self.early.visible_groups(tile, self.stored(candidate.nearness[0]));
        }
        if visible != 0 && (!within_corners || is_long) {
            visible = self.visible_by_slope((tile, visible), pixels, candidate);
        }
        tests.counts.queries += 1;
        tests.count(1, (visible == 0).into());
        if visible == 0 {
            tests.record(pixels);
            return 0;
        }
        let hidden = touched & !visible;
        if hidden == 0 || !is_long {
            return u64::MAX;
        }
        tests.counts.group_kills += hidden.count_ones();
        if tests.hidden.is_some() {
            let groups = (0..GROUPS).filter(|group| hidden >> group & 1 != 0);
            groups.for_each(|group| tests.record(within(pixels, pixels_of_group(corner_of(pixels), group))));
        }
        visible
    }

    /// Returns those of some groups of a tile, as bits, that may show the part of a triangle in
    /// some pixels. Returns none if no group shows it by the depths and the coverage there.
    fn visible_by_slope(&self, (tile, groups): (usize, u64), pixels: [i64; 4], candidate: &Candidate<'_>) -> u64 {
        let Candidate { triangles, index, .. } = *candidate;
        let shape = candidate.shape.get_or_init(|| triangles.shape(index));
        let near = |pixels| self.direction.nearness(self.direction.near(depths_over(shape, pixels, self.format)));
        let visible = groups & self.early.visible_groups(tile, near(pixels));
        if visible == 0 {
            return 0;
        }
        let (triangle, outer) = (triangles.triangle(index), triangles.outer_criterion());
        let shows = |group: usize| {
            let area = pixels_of_group(corner_of(pixels), group);
            near(within(pixels, area)) <= self.early.bound(tile, group)
                && triangle.covers_cell(area[0] * UNITS, area[1] * UNITS, UNITS << GROUP_LOG2, outer)
        };
        let mut groups = (0..GROUPS).filter(|group| visible >> group & 1 != 0);
        if groups.any(shows) { visible } else { 0 }
    }
}

/// Returns the first pixel of the tile of some pixels.
fn corner_of(pixels: [i64; 4]) -> [i64; 2] {
    [pixels[0], pixels[1]].map(|pixel| pixel >> TILE_LOG2 << TILE_LOG2)
}

/// Triangles of consecutive runs that may update the structure.
pub struct RunUpdates<'a> {
    /// Triangles of the window.
    pub triangles: &'a Triangles,
    /// The runs.
    pub runs: &'a [Run],
    /// Number of the first triangle, which belongs to the first run or to a later one.
    pub start: u32,
    /// Maximum number of triangles that update the structure.
    pub max: u32,
}

/// Progress of updates by runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpdateProgress {
    /// Number of triangles that updated the structure.
    pub updated: u32,
    /// Number of the first triangle after those that were considered.
    pub end: u32,
}

/// Updates the structure by the triangles of runs, until the maximum is reached. `update_rules`
/// returns the rules of a draw, by its number.
pub fn update_hiz(
    early: &mut EarlyBounds,
    RunUpdates { triangles, runs, start, max }: RunUpdates<'_>,
    grid: &Grid,
    update_rules: impl Fn(usize) -> UpdateRules,
) -> UpdateProgress {
    let mut progress = UpdateProgress { updated: 0, end: start };
    for run in runs.iter().filter(|run| run.end > start) {
        let (range, rules) = (progress.end..run.end, update_rules(run.draw.state as usize));
        let of_run = update_by_run(early, TriangleRun { triangles, range }, (grid, &rules), max - progress.updated);
        progress = UpdateProgress { updated: progress.updated + of_run.updated, ..of_run };
        if progress.end < run.end {
            break;
        }
    }
    progress
}

/// Updates the structure by triangles of a draw, at most `max`.
fn update_by_run(
    early: &mut EarlyBounds,
    run: TriangleRun<'_>,
    (grid, update_rules): (&Grid, &UpdateRules),
    max: u32,
) -> UpdateProgress {
    let TriangleRun { triangles, range } = run;
    let (mut updated, all) = (0, UpdateProgress { updated: 0, end: range.end });
    let Visibility { tests, updates_hiz, .. } = update_rules.visibility;
    if !updates_hiz || early.direction() != tests || !triangles.may_cover_groups() {
        return all;
    }
    let Some(mut updater) = HizUpdater::new(early, grid, triangles.layer(), update_rules, &[]) else { return all };
    for index in range {
        if updated == max {
            return UpdateProgress { updated, end: index };
        }
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
    UpdateProgress { updated, ..all }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{DrawId, EarlyTests, Runs, Window};
    use super::*;
    use crate::hiz::{DepthRange, Hierarchy, Hiz, OcclusionTest, apply_updates};
    use crate::raster::{Criterion, UNITS};
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
        let heuristic = early_hiz.map(|_| HizHeuristic::new(Hiz::Always));
        let tests = EarlyTests { test: early_hiz, heuristic, records: true };
        Window { runs, ..Window::new(triangles, grid, grid.area(), &tests) }
    }

    /// Updates bounds by all triangles of a window. Returns the number of those that did.
    fn update_by(window: &Window, early: &mut EarlyBounds, grid: &Grid, rules: UpdateRules) -> u32 {
        let runs = RunUpdates { triangles: &window.triangles, runs: &window.runs, start: 0, max: u32::MAX };
        let progress = update_hiz(early, runs, grid, |_| rules);
        assert_eq!(progress.end as usize, window.triangles.len());
        progress.updated
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
            early.begin(direction, grid.places().map(|(_, pixel)| hierarchy.known(pixel)));
            let visibility = Visibility { tests: Some(direction), updates_hiz: true, looks_ahead: true, writes: Some(op) };
            let extent = SIZE.map(i64::from);
            let update_rules = UpdateRules { visibility, scissor: [0, 0, 140, 90], format: FORMAT, extent, full: Criterion::Inner };
            let first = window(&large, &grid, None);
            update_by(&first, &mut early, &grid, update_rules);
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

    /// Returns bounds after a wall of depth 1/2 was drawn over a cleared image.
    fn behind_a_wall(grid: &Grid) -> EarlyBounds {
        let hierarchy = Hierarchy::new(SIZE, Hiz::Always);
        hierarchy.clear([0, 0, 150, 90], 1.0);
        let mut early = EarlyBounds::default();
        early.begin(DepthDirection::Less, grid.places().map(|(_, pixel)| hierarchy.known(pixel)));
        let tests = Some(DepthDirection::Less);
        let visibility = Visibility { tests, updates_hiz: true, looks_ahead: false, writes: None };
        let extent = SIZE.map(i64::from);
        let update_rules =
            UpdateRules { visibility, scissor: [0, 0, 150, 90], format: FORMAT, extent, full: Criterion::Inner };
        let wall = window(&[[[0.0, -1.0, 0.5], [400.0, -1.0, 0.5], [0.0, 300.0, 0.5]]], grid, None);
        assert_eq!(update_by(&wall, &mut early, grid, update_rules), 1);
        early
    }

    /// The first of three blocks is hidden as a whole, and some triangles of the others are.
    #[test]
    fn hidden_blocks_and_triangles_are_counted() {
        let grid = Grid::new([0, 0, 150, 90], 1);
        let early = behind_a_wall(&grid);
        let small = |number: usize, depth: f32| {
            let x = 8.0 + (number % 8) as f32 * 6.0;
            [[x, 8.0, depth], [x + 5.0, 8.0, depth], [x, 13.0, depth]]
        };
        // It crosses three tiles, of which it is hidden in the last.
        let leaning = [[40.0, 20.0, 0.3], [140.0, 20.0, 0.8], [140.0, 60.0, 0.8]];
        // It crosses two tiles and is hidden in both.
        let across = [[50.0, 20.0, 0.6], [80.0, 20.0, 0.6], [80.0, 40.0, 0.6]];
        let first = (0..16).map(|number| small(number, 0.6));
        let second = (0..16).map(|number| small(number, if number % 2 == 0 { 0.4 } else { 0.6 }));
        let third = [small(0, 0.5), leaning, across];
        let corners: Vec<_> = first.chain(second).chain(third).collect();
        let test = EarlyHizTest::new(&early, DepthDirection::Less, FORMAT);
        let window = window(&corners, &grid, test);
        let TestCounts { block_queries, block_kills, queries, kills, .. } = window.tests;
        assert_eq!([block_queries, block_kills], [2, 1], "the third block has three columns of tiles");
        // Each of the first block, half of the second, and the pairs of the last two triangles.
        assert_eq!([queries, kills], [16 + 8 + 3 + 2, 16 + 8 + 1 + 2]);
        assert_eq!(window.hidden.len(), 16 + 8 + 1 + 2);
        let entries = (0..grid.count()).map(|tile| window.in_tile(tile).len()).sum::<usize>();
        assert_eq!(entries, 8 + 1 + 2);
    }

    #[test]
    fn what_lies_behind_a_wall_is_put_nowhere() {
        let (grid, hierarchy) = (Grid::new([0, 0, 150, 90], 1), Hierarchy::new(SIZE, Hiz::Always));
        hierarchy.clear([0, 0, 150, 90], 1.0);
        let mut early = EarlyBounds::default();
        early.begin(DepthDirection::Less, grid.places().map(|(_, pixel)| hierarchy.known(pixel)));
        assert!(EarlyHizTest::new(&early, DepthDirection::Greater, FORMAT).is_none());
        let visibility =
            Visibility { tests: Some(DepthDirection::Less), updates_hiz: true, looks_ahead: false, writes: None };
        let mut update_rules = UpdateRules {
            visibility,
            scissor: [0, 0, 150, 90],
            format: FORMAT,
            extent: SIZE.map(i64::from),
            full: Criterion::Inner,
        };
        let wall = [[0.0, -1.0, 0.5], [400.0, -1.0, 0.5], [0.0, 300.0, 0.5]];
        let wall = window(&[wall], &grid, None);
        let behind = [[10.0, 10.0, 0.6], [90.0, 10.0, 0.6], [10.0, 20.0, 0.6]];
        let before = behind.map(|[x, y, _]| [x, y, 0.4]);
        for (updates_hiz, tiles) in [(false, 2), (true, 0)] {
            update_rules.visibility.updates_hiz = updates_hiz;
            update_by(&wall, &mut early, &grid, update_rules);
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
        early.begin(DepthDirection::Less, std::iter::once(None));
        assert!(EarlyHizTest::new(&early, DepthDirection::Less, FORMAT).is_none(), "nothing is known of any tile");
    }

    /// Three walls that cover the first tile, in two runs, of which the second writes no depth.
    #[test]
    fn limited_updates_go_on_where_they_ended() {
        let grid = Grid::new([0, 0, 150, 90], 1);
        let visibility =
            Visibility { tests: Some(DepthDirection::Less), updates_hiz: true, looks_ahead: false, writes: None };
        let rules = |updates_hiz| UpdateRules {
            visibility: Visibility { updates_hiz, ..visibility },
            scissor: [0, 0, 150, 90],
            format: FORMAT,
            extent: SIZE.map(i64::from),
            full: Criterion::Inner,
        };
        let wall = |depth: f32| [[0.0, -1.0, depth], [400.0, -1.0, depth], [0.0, 300.0, depth]];
        let small = [[1.0, 1.0, 0.5], [5.0, 1.0, 0.5], [1.0, 5.0, 0.5]];
        let window = window(&[wall(0.9), small, wall(0.8), wall(0.7), wall(0.1), wall(0.6)], &grid, None);
        let run = |end, state| Run { end, draw: DrawId { state, sample: None } };
        let runs = [run(4, 0), run(5, 1), run(6, 0)];
        let hierarchy = Hierarchy::new(SIZE, Hiz::Always);
        hierarchy.clear([0, 0, 150, 90], 1.0);
        let mut early = EarlyBounds::default();
        early.begin(DepthDirection::Less, grid.places().map(|(_, pixel)| hierarchy.known(pixel)));
        // The next triangle after each step, and the bound of the first group.
        let mut start = 0;
        for (max, expected, end, bound) in
            [(0, 0, 0, 1.0), (1, 1, 1, 0.9), (1, 1, 3, 0.8), (0, 0, 3, 0.8), (2, 2, 6, 0.6), (1, 0, 6, 0.6)]
        {
            let updates = RunUpdates { triangles: &window.triangles, runs: &runs, start, max };
            let progress = update_hiz(&mut early, updates, &grid, |draw| rules(draw == 0));
            assert_eq!(progress, UpdateProgress { updated: expected, end });
            assert_eq!(early.bound(0, 0), bound);
            start = progress.end;
        }
    }
}
