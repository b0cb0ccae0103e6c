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

use smallvec::SmallVec;
use vitric_base::counters::DrawSample;

pub use batch::Batch;
use bins::{BinTests, Bins};
pub use bins::{TileParts, WindowPart};

use crate::geometry::Triangles;
use crate::raster::Grid;

pub use early_hiz::{EarlyHizTest, TestCounts, update_hiz};

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

    /// Returns the numbers of the triangles in a tile of the layer.
    #[cfg(test)]
    fn in_tile(&self, tile: usize) -> &[u16] {
        self.bins.in_tile(tile)
    }

    /// Sorts triangles into the tiles of a grid that their draws may touch, except where they are
    /// known to be hidden. The window has no runs yet.
    pub fn new(triangles: Triangles, grid: &Grid, clips: &[Clip], early_hiz: Option<EarlyHizTest<'_>>) -> Self {
        let mut tests = BinTests { early_hiz, counts: TestCounts::default() };
        let bins = Bins::new(&triangles, grid, clips, &mut tests);
        Self { runs: Runs::new(), triangles, bins, tests: tests.counts }
    }
}

/// Pixels that some triangles of a window may touch.
#[derive(Debug, Clone, Copy)]
pub struct Clip {
    /// Number of the first triangle after them.
    pub end: u32,
    /// Scissor of their draw: `[x0, y0, x1, y1]` with exclusive ends.
    pub pixels: [i64; 4],
}

impl Clip {
    /// Returns the clip of all triangles of a window.
    pub fn of_all(pixels: [i64; 4]) -> Self {
        Self { end: u32::MAX, pixels }
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
        let clips = [Clip::of_all([0, 0, 500, 500])];
        let windows = [Window::new(triangles, &grid, &clips, None)];
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
        let clips = [
            Clip { end: 2, pixels: [120, 60, 128, 65] },
            Clip { end: 4, pixels: [128, 64, 191, 128] },
            Clip { end: 5, pixels: [0, 0, 64, 300] },
        ];
        let window = Window::new(triangles, &grid, &clips, None);
        let holds = |tile: usize, index: u16| window.in_tile(tile).contains(&index);
        let tiles = |index: u16| (0..grid.count()).filter(|&tile| holds(tile, index)).collect::<Vec<_>>();
        let columns = 6;
        let expected: [Vec<usize>; 5] = [vec![0, columns], vec![], vec![columns + 1], vec![columns + 1], vec![]];
        assert_eq!([0, 1, 2, 3, 4].map(tiles), expected);
    }
}
