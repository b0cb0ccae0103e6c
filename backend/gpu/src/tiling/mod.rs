//! Tiling: triangles of a window are sorted into 64x64-pixel tiles by conservative coverage.
//! Workers then process the tiles, each of which first sets its triangles up (`pixel::pass`).
//!
//! A window holds triangles of one draw state, or of several small draws. The windows of a whole
//! pass form one batch, which is processed together, unless something forces an earlier end. One
//! worker processes a tile at a time, in API order, so images depend neither on the number of
//! workers nor on the size of windows. A later tile pass may process a tile again.

mod batch;
mod bins;
mod early_hiz;

use std::ops::Range;

use smallvec::SmallVec;
use vitric_base::counters::DrawSample;

pub use batch::Batch;
use bins::{Bins, Touched};
pub use bins::{TileParts, VisibleGroups, WindowPart};
use early_hiz::WindowTests;

use crate::geometry::{Pixels, Triangles};
use crate::hiz::HizHeuristic;
use crate::raster::Grid;

pub use early_hiz::{EarlyHizTest, RunUpdates, TestCounts, UpdateProgress, update_hiz};

/// Draw of primitives in a tile pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawId {
    /// Number of the draw state in the tile pass, which several draws may share.
    pub state: u32,
    /// Sample of the draw, if the GPU counts.
    pub sample: Option<DrawSample>,
}

/// Consecutive triangles or primitives of one draw, or of several draws with one state if the GPU
/// does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Number of the first one after them.
    pub end: u32,
    /// Draw of the primitives.
    pub draw: DrawId,
}

/// Runs in order, each with at least one triangle.
pub type Runs = SmallVec<[Run; 2]>;

/// Consecutive triangles of a window.
struct TriangleRun<'t> {
    triangles: &'t Triangles,
    range: Range<u32>,
}

/// A window: triangles of one draw state, or of several small draws, sorted into tiles.
#[derive(Debug)]
pub struct Window {
    /// Draw states of its triangles.
    pub runs: Runs,
    /// Its triangles, in order, at most [`crate::geometry::MAX_TRIANGLES`].
    pub triangles: Triangles,
    bins: Bins,
    /// Counts of the tests of sorting.
    pub tests: TestCounts,
    /// Pixels of parts of triangles that were hidden, if they are recorded.
    pub hidden: Vec<Pixels>,
    /// Parts of triangles of each run that early tests kept out of tiles.
    pub run_kills: SmallVec<[u32; 2]>,
    /// Estimate whether early tests pay, after the tests of this window.
    pub heuristic: Option<HizHeuristic>,
}

impl Window {
    /// Returns the layer to which the triangles are drawn.
    pub fn layer(&self) -> u32 {
        self.triangles.layer()
    }

    /// Returns the numbers of the triangles of a part.
    pub fn triangles_of(&self, part: WindowPart) -> &[u16] {
        self.bins.of(part)
    }

    /// Returns the visible groups of the triangles that are hidden in some groups of a tile of the
    /// layer, in the order of the triangles.
    pub fn partial_in(&self, tile: usize) -> &[VisibleGroups] {
        self.bins.partial_in(tile)
    }

    /// Returns the numbers of the triangles in a tile of the layer.
    #[cfg(test)]
    fn in_tile(&self, tile: usize) -> &[u16] {
        self.bins.in_tile(tile)
    }

    /// Sorts triangles of one draw into the tiles of a grid that contain pixels of its scissor,
    /// except where they are known to be hidden. The window has no runs yet.
    pub fn new(triangles: Triangles, grid: &Grid, scissor: [i64; 4], tests: &EarlyTests<'_>) -> Self {
        let mut sorter = WindowSorter::new(&triangles, grid, tests.heuristic, tests.records);
        sorter.add_run(&triangles, triangles.len() as u32, scissor, tests.of(&triangles, grid));
        sorter.finish(triangles, Runs::new())
    }
}

/// Early Hi-Z tests of a draw's windows.
#[derive(Clone, Copy, Default)]
pub struct EarlyTests<'a> {
    /// The test, if there is one.
    pub test: Option<EarlyHizTest<'a>>,
    /// Estimate whether tests pay.
    pub heuristic: Option<HizHeuristic>,
    /// True if hidden parts are recorded.
    pub records: bool,
}

impl<'a> EarlyTests<'a> {
    /// Returns the test for triangles, which may be drawn to a layer that the pass does not have.
    fn of(&self, triangles: &Triangles, grid: &Grid) -> Option<EarlyHizTest<'a>> {
        self.test.filter(|_| (triangles.layer() as usize) < grid.layers())
    }
}

/// Sorter of a window's triangles into tiles, run by run.
#[derive(Debug)]
pub struct WindowSorter {
    grid: Grid,
    touched: Touched,
    tests: WindowTests,
    /// Number of the first triangle that is not sorted.
    start: u32,
    run_kills: SmallVec<[u32; 2]>,
}

impl WindowSorter {
    /// Returns a sorter of triangles into the tiles of a grid.
    pub fn new(triangles: &Triangles, grid: &Grid, heuristic: Option<HizHeuristic>, records: bool) -> Self {
        let tests = WindowTests::new(heuristic, records);
        let touched = Touched::new(triangles.len(), grid);
        Self { grid: *grid, touched, tests, start: 0, run_kills: SmallVec::new() }
    }

    /// Sorts the next triangles, up to `end`, into tiles that contain pixels of their draw's
    /// scissor, except where they are known to be hidden.
    pub fn add_run(&mut self, triangles: &Triangles, end: u32, scissor: [i64; 4], early_hiz: Option<EarlyHizTest<'_>>) {
        let (range, before) = (std::mem::replace(&mut self.start, end)..end, self.tests.counts.kills);
        self.touched.add_run(TriangleRun { triangles, range }, (&self.grid, scissor), early_hiz, &mut self.tests);
        self.run_kills.push(self.tests.counts.kills - before);
    }

    /// Returns the maximum number of triangles that may update the bounds.
    pub fn max_updates(&self) -> u32 {
        self.tests.heuristic.map_or(0, |heuristic| heuristic.max_updates())
    }

    /// Counts triangles that updated the bounds.
    pub fn count_updates(&mut self, triangles: u32) {
        self.tests.heuristic.iter_mut().for_each(|heuristic| heuristic.count_updates(triangles));
    }

    /// Returns the estimate whether tests pay.
    pub fn heuristic(&self) -> Option<HizHeuristic> {
        self.tests.heuristic
    }

    /// Returns the window of all triangles, which are sorted.
    pub fn finish(self, triangles: Triangles, runs: Runs) -> Window {
        let WindowTests { counts: tests, hidden, heuristic, .. } = self.tests;
        let (bins, hidden) = (Bins::new(self.touched), hidden.unwrap_or_default());
        Window { runs, triangles, bins, tests, hidden, run_kills: self.run_kills, heuristic }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_hold_what_touches_them_in_order() {
        let grid = Grid::new([10, 0, 200, 130], 2);
        assert_eq!(grid.count_all(), 24);
        assert_eq!((grid.count(), grid.pixels(0), grid.pixels(11)), (12, [10, 0, 64, 64], [192, 128, 200, 130]));
        let large = [[0, 0], [200, 0], [0, 200]];
        let small = [[70, 70], [72, 70], [70, 72]];
        let outside = [[300, 0], [310, 0], [300, 9]];
        let mut triangles = Triangles::default();
        triangles.start(Default::default(), 0, 1);
        for corners in [large, small, outside, small] {
            triangles.push_pixels(corners);
        }
        let windows = [Window::new(triangles, &grid, [0, 0, 500, 500], &EarlyTests::default())];
        let parts = TileParts::new(&windows, &grid, &Batch::all(&windows));
        let of = |tile| parts.of(tile).iter().map(|&part| windows[0].bins.of(part)).collect::<Vec<_>>();
        assert_eq!(of(12), [&[0]]);
        assert_eq!(of(12 + 5), [&[0, 1, 3]]);
        assert!(of(12 + 7).is_empty(), "what only the bounds of a triangle touch");
        assert!(of(0).is_empty(), "another layer");
        assert_eq!(Grid::new([5, 5, 5, 9], 1).count(), 0);
    }

    /// Each triangle is put into those of its tiles that have a pixel of its clip.
    #[test]
    fn triangles_are_put_into_tiles_of_their_clips_only() {
        let grid = Grid::new([64, 0, 400, 300], 1);
        let mut triangles = Triangles::default();
        triangles.start(Default::default(), 0, 0);
        let (large, small) = ([[0, 0], [900, 0], [0, 900]], [[130, 70], [140, 70], [130, 90]]);
        for corners in [large, small, large, small, large] {
            triangles.push_pixels(corners);
        }
        let mut sorter = WindowSorter::new(&triangles, &grid, None, false);
        sorter.add_run(&triangles, 2, [120, 60, 128, 65], None);
        sorter.add_run(&triangles, 4, [128, 64, 191, 128], None);
        sorter.add_run(&triangles, 5, [0, 0, 64, 300], None);
        let window = sorter.finish(triangles, Runs::new());
        let holds = |tile: usize, index: u16| window.in_tile(tile).contains(&index);
        let tiles = |index: u16| (0..grid.count()).filter(|&tile| holds(tile, index)).collect::<Vec<_>>();
        let columns = 6;
        let expected: [Vec<usize>; 5] = [vec![0, columns], vec![], vec![columns + 1], vec![columns + 1], vec![]];
        assert_eq!([0, 1, 2, 3, 4].map(tiles), expected);
    }
}
