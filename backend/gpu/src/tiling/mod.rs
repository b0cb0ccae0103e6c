//! Tiling: windows of triangles are sorted into 64x64-pixel tiles by conservative coverage, and workers walk the tiles, which first set
//! their triangles up.
//!
//! A window holds triangles of one draw state, or of several small draws one after the other; the windows of a whole pass are walked together, as far as nothing forces an
//! earlier end. A tile's primitives keep API order, and no two workers ever hold the same tile, so images do not depend on the
//! number of workers, nor on the size of windows. A later walk may visit a tile again.

mod ahead;
mod bins;

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::MutexGuard;
use smallvec::SmallVec;

use bins::Bins;
pub use bins::TileParts;

use vitric_base::counters::{self, Counter, Counters, Sight};

use crate::geometry::{Batch, Pixels, Primitives, Shape, Triangles, Words};
use crate::gpu::Gpu;
use crate::hiz::{Bounds, Hierarchy, within};
use crate::pixel::{DrawContext, process_tile};
use crate::raster::{Criterion, TILE_LOG2, Triangle, UNITS};
use crate::transfer::PlaneClear;

pub use ahead::{Ahead, Hiding, Lesson, Teaching, Tests, teach, teach_lessons};

/// Most triangles of a window, and most windows of a walk: a triangle is known by 16 bits of each. A bin takes as many.
pub const MOST: usize = 1 << 16;

/// Triangles or primitives of one draw state that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Number of the first behind them.
    pub end: u32,
    /// Number of the draw state in the walk.
    pub draw: u32,
}

/// Draw states one after the other, each with at least one triangle.
pub type Runs = SmallVec<[Run; 2]>;

/// A window: triangles of one draw state, or of several that are small, sorted into tiles.
#[derive(Debug)]
pub struct Window {
    /// The draw states of its triangles.
    pub runs: Runs,
    /// Its triangles, in order, at most [`MOST`].
    pub triangles: Triangles,
    bins: Bins,
    /// What sorting them took.
    pub tests: Tests,
}

impl Window {
    /// The layer that they are drawn to.
    pub fn layer(&self) -> u32 {
        self.triangles.layer()
    }

    /// Its triangles in a tile of its layer.
    #[cfg(test)]
    fn in_tile(&self, tile: usize) -> &[u16] {
        self.bins.in_tile(tile)
    }

    /// Sorts triangles, of no draw state for now, into the tiles of a grid that their draws may touch, but for those that are known to be
    /// hidden there.
    pub fn new(triangles: Triangles, grid: &Grid, clips: &[Clip], ahead: Option<Ahead<'_>>) -> Self {
        let mut tests = Tests::default();
        let bins = Bins::new(&triangles, grid, clips, (ahead, &mut tests));
        Self { runs: Runs::new(), triangles, bins, tests }
    }
}

/// Pixels that some triangles of a window may touch.
#[derive(Debug, Clone, Copy)]
pub struct Clip {
    /// Number of the first triangle behind them.
    pub end: u32,
    /// `[x0, y0, x1, y1]`, the last ones not included: the scissor of their draw.
    pub pixels: [i64; 4],
}

impl Clip {
    /// Of all triangles of a window.
    pub fn of_all(pixels: [i64; 4]) -> Self {
        Self { end: u32::MAX, pixels }
    }
}

/// Tiles in a rectangle of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TileRect {
    /// Column and row of the first tile, in tiles of the image.
    first: [i64; 2],
    /// Columns and rows.
    size: [i64; 2],
}

/// The tiles of a render area.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Grid {
    /// The render area: `[x0, y0, x1, y1]`, pixels, the last ones not included.
    area: [i64; 4],
    first: [i64; 2],
    columns: i64,
    rows: i64,
    layers: usize,
}

fn tile_of(pixel: i64) -> i64 {
    pixel >> TILE_LOG2
}

impl Grid {
    /// Of a render area, which may be empty, in some layers.
    pub fn new(area: [i64; 4], layers: u32) -> Self {
        let first = [tile_of(area[0]), tile_of(area[1])];
        let count =
            |axis: usize| if area[axis] < area[axis + 2] { tile_of(area[axis + 2] - 1) - first[axis] + 1 } else { 0 };
        Self { area, first, columns: count(0), rows: count(1), layers: layers as usize }
    }

    /// The render area.
    pub fn area(&self) -> [i64; 4] {
        self.area
    }

    /// Tiles of a layer.
    pub fn count(&self) -> usize {
        (self.columns * self.rows) as usize
    }

    /// Tiles of all layers: those of each follow those of the one before.
    pub fn count_all(&self) -> usize {
        self.count() * self.layers
    }

    /// First pixels of all tiles, layer by layer, with the layer.
    pub fn places(&self) -> impl Iterator<Item = (usize, [i64; 2])> {
        (0..self.count_all()).map(|tile| {
            let (layer, number) = self.place(tile);
            let [x, y, ..] = self.pixels(number);
            (layer, [x, y])
        })
    }

    /// The layer of a tile by its number in all layers, and its number there.
    fn place(&self, tile: usize) -> (usize, usize) {
        (tile / self.count(), tile % self.count())
    }

    /// Pixels of a tile that lie in the render area.
    fn pixels(&self, tile: usize) -> [i64; 4] {
        let side = 1i64 << TILE_LOG2;
        let left = (self.first[0] + tile as i64 % self.columns) * side;
        let top = (self.first[1] + tile as i64 / self.columns) * side;
        let area = self.area;
        [left.max(area[0]), top.max(area[1]), (left + side).min(area[2]), (top + side).min(area[3])]
    }

    /// The tiles that have any of these pixels.
    fn tiles_within(&self, pixels: [i64; 4]) -> TileRect {
        let part = Self::new(within(pixels, self.area), 1);
        TileRect { first: part.first, size: [part.columns, part.rows] }
    }

    /// The tile that all of these pixels, of which there are some, lie in, if it is one of `tiles`: what covers any of them touches it.
    #[inline]
    fn only_tile(&self, [x0, y0, x1, y1]: Pixels, tiles: &TileRect) -> Option<u32> {
        let tile = |pixel: i16| i32::from(pixel) >> TILE_LOG2;
        let (x, y) = (tile(x0), tile(y0));
        let is_one = (x == tile(x1 - 1)) & (y == tile(y1 - 1));
        let from = |first: &[i64; 2], axis: usize| ([x, y][axis] - first[axis] as i32) as u32;
        let is_inside = |axis: usize| from(&tiles.first, axis) < tiles.size[axis] as u32;
        let number = || from(&self.first, 1) * self.columns as u32 + from(&self.first, 0);
        (is_one & is_inside(0) & is_inside(1)).then(number)
    }

    /// Calls `visit` with each of `tiles` that a triangle touches. Returns the number of tiles for which that was evaluated: 0 where the
    /// triangle's pixels tell.
    fn touched(&self, triangles: &Triangles, index: u32, tiles: &TileRect, visit: impl FnMut(usize)) -> u32 {
        self.touched_by(triangles.pixels(index).map(i64::from), tiles, || triangles.triangle(index), visit)
    }

    /// The same of a triangle that may cover these pixels, which is asked for where there are such tiles.
    fn touched_by(
        &self,
        [x0, y0, x1, y1]: [i64; 4],
        tiles: &TileRect,
        coverage: impl FnOnce() -> Triangle,
        mut visit: impl FnMut(usize),
    ) -> u32 {
        let (first, last) = ([tile_of(x0), tile_of(y0)], [tile_of(x1 - 1), tile_of(y1 - 1)]);
        let [left, top] = [0, 1].map(|axis: usize| first[axis].max(tiles.first[axis]));
        let [right, bottom] = [0, 1].map(|axis: usize| last[axis].min(tiles.first[axis] + tiles.size[axis] - 1));
        let number = |x: i64, y: i64| ((y - self.first[1]) * self.columns + x - self.first[0]) as usize;
        if left > right || top > bottom {
            return 0;
        }
        if first[0] == last[0] || first[1] == last[1] {
            // It reaches from the first tile to the last, through all between them.
            (top..=bottom).for_each(|y| (left..=right).for_each(|x| visit(number(x, y))));
            return 0;
        }
        let (triangle, side) = (coverage(), UNITS << TILE_LOG2);
        for (x, y) in (top..=bottom).flat_map(|y| (left..=right).map(move |x| (x, y))) {
            if triangle.covers_cell(x * side, y * side, side, Criterion::Conservative) {
                visit(number(x, y));
            }
        }
        ((right - left + 1) * (bottom - top + 1)) as u32
    }
}

/// The windows of a walk, as the pixel units see them.
#[derive(Clone, Copy)]
pub struct Walk<'a> {
    /// The tiles.
    pub grid: &'a Grid,
    /// Draw states, by the windows' numbers.
    pub draws: &'a [DrawContext<'a>],
    /// Windows, in order, at most [`MOST`].
    pub windows: &'a [Window],
    /// What of them touches each tile.
    pub parts: &'a TileParts,
    /// The visibility structures of the depth attachment, layer by layer; the last ones may have none.
    pub depths: &'a [Arc<Hierarchy>],
    /// What is cleared before a tile is drawn to for the first time.
    pub(crate) clears: Option<&'a TileClears<'a>>,
    /// Whether fragments that newer ones cover are dropped before they are shaded.
    pub scoreboard: bool,
    /// Who counts, if anybody does.
    pub counters: Option<&'a Counters>,
    /// For each tile, where somebody counts, whether a walk of the pass has worked on it.
    pub visited: &'a [AtomicBool],
}

/// Planes that are cleared tile by tile, so that a tile is cleared when it is in the caches for its draws.
pub(crate) struct TileClears<'a> {
    /// The planes.
    pub planes: Vec<PlaneClear<'a>>,
    /// Those of them that are needed also where nothing is drawn.
    pub kept: Vec<PlaneClear<'a>>,
    /// For each tile whether it was cleared.
    pub done: &'a [AtomicBool],
    /// Whether all tiles are to be cleared that were not, also those that nothing is drawn to.
    pub all: bool,
}

impl TileClears<'_> {
    /// Whether nothing but this visits a tile.
    fn wants(&self, tile: usize) -> bool {
        self.all && !self.kept.is_empty() && !self.done[tile].load(Ordering::Relaxed)
    }

    /// The planes to clear in a tile, which something may be `drawn` to: none when that was done. The caller clears them, and is the only
    /// thread that has the tile.
    pub fn due(&self, tile: usize, drawn: bool) -> &[PlaneClear<'_>] {
        match self.done[tile].swap(true, Ordering::Relaxed) {
            true => &[],
            false if drawn => &self.planes,
            false => &self.kept,
        }
    }

    /// Clears everything at once, row by row, when no tile was.
    fn clear_all(&self, gpu: &Gpu, grid: &Grid) {
        if self.done.iter().all(|done| !done.load(Ordering::Relaxed)) {
            self.kept.iter().for_each(|plane| plane.clear_on(gpu.workers(), grid.area));
            self.done.iter().for_each(|done| done.store(true, Ordering::Relaxed));
        }
    }
}

/// What is kept from tile to tile of the set-up of their primitives.
#[derive(Debug, Default)]
pub struct SetUpScratch {
    batches: [Batch; 2],
    bins: Vec<Bin>,
    /// Triangles: number of the window above, number in the window below.
    triangles: Vec<u32>,
}

/// Primitives of windows that touch a tile, all set up in the same way.
#[derive(Debug, Default)]
pub struct Bin {
    /// Their draw states.
    runs: Vec<Run>,
    /// The primitives, in order.
    pub primitives: Primitives,
}

impl Bin {
    /// The number of the draw state of its first primitive.
    pub fn first_draw(&self) -> Option<usize> {
        self.runs.first().map(|run| run.draw as usize)
    }

    /// Adds the triangles of a window with these numbers there, behind `before` others.
    fn add_runs(&mut self, runs: &[Run], mut indices: &[u16], before: usize) {
        let (mut end, mut rest) = (before as u32, runs);
        while let [first, ..] = indices {
            rest = &rest[rest.partition_point(|run| run.end <= u32::from(*first))..];
            let Some(&Run { end: behind, draw }) = rest.first() else { return };
            let count = indices.partition_point(|&index| u32::from(index) < behind);
            indices = &indices[count..];
            end += count as u32;
            match self.runs.last_mut().filter(|last| last.draw == draw) {
                Some(last) => last.end = end,
                None => self.runs.push(Run { end, draw }),
            }
        }
    }
}

/// Primitives of one draw state in a bin.
#[derive(Debug, Clone)]
pub struct Stretch<'a> {
    /// The bin, and its number.
    pub bin: (&'a Bin, u32),
    /// Their numbers there.
    pub primitives: Range<u32>,
    /// Number of the draw state in the walk.
    pub draw: usize,
}

impl<'a> Walk<'a> {
    /// The bounds of a tile's depths.
    pub fn bounds(&self, tile: usize) -> Option<MutexGuard<'a, Bounds>> {
        let (layer, number) = self.grid.place(tile);
        let [x, y, ..] = self.grid.pixels(number);
        self.depths.get(layer)?.tile([x, y])
    }

    /// Returns true if any primitive was put into a tile.
    pub fn is_drawn_to(&self, tile: usize) -> bool {
        !self.parts.of(tile).is_empty()
    }

    /// Sets the primitives of a tile up, in order.
    pub fn set_up<'s>(&self, tile: usize, scratch: &'s mut SetUpScratch) -> &'s [Bin] {
        let SetUpScratch { batches, bins, triangles } = scratch;
        let find = |id: u32| (&self.windows[(id >> 16) as usize].triangles, id & 0xffff);
        let mut parts = self.parts.of(tile).iter().map(|&part| (part, &self.windows[part.window as usize])).peekable();
        let mut count = 0;
        while let Some(&(_, first)) = parts.peek() {
            triangles.clear();
            if bins.len() == count {
                bins.push(Bin::default());
            }
            let bin = &mut bins[count];
            bin.runs.clear();
            let alike = |window: &Window| window.triangles.plan() == first.triangles.plan();
            while let Some((part, window)) =
                parts.next_if(|(part, window)| alike(window) && triangles.len() + part.len() <= MOST)
            {
                let indices = window.bins.of(part);
                bin.add_runs(&window.runs, indices, triangles.len());
                triangles.extend(indices.iter().map(|&index| part.window << 16 | u32::from(index)));
            }
            bin.primitives.set_up(first.triangles.plan(), (triangles, find), batches);
            count += 1;
        }
        &bins[..count]
    }
}

/// What tells what became of a tile.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    visits: u64,
    covered: u64,
}

impl Seen {
    fn new(sight: &Sight) -> Self {
        let covered = sight.get(Counter::Groups) + sight.get(Counter::Blocks);
        Self { visits: sight.get(Counter::TileVisits), covered }
    }
}

impl Walk<'_> {
    /// Counts what became of a tile, by what was seen before it.
    fn count_tile(&self, tile: usize, sight: &Sight, before: &Seen) {
        let now = Seen::new(sight);
        if now.visits == before.visits {
            return;
        }
        let again = self.visited.get(tile).is_some_and(|visited| visited.swap(true, Ordering::Relaxed));
        sight.count(Counter::TileRevisits, again.into());
        sight.count(Counter::TilesCulled, (now.covered == before.covered).into());
    }
}

/// A primitive of a tile: number of the bin above, number in the bin below.
pub type PrimitiveId = u32;

/// What of a walk a tile sees: its primitives, set up.
#[derive(Clone, Copy)]
pub struct Visit<'a> {
    /// Draw states, by the bins' numbers.
    pub draws: &'a [DrawContext<'a>],
    /// Primitives, in order.
    pub bins: &'a [Bin],
    /// Whether fragments that newer ones cover are dropped before they are shaded.
    pub scoreboard: bool,
}

impl<'a> Visit<'a> {
    /// A primitive's words.
    #[inline]
    pub fn words(&self, id: PrimitiveId) -> Words<'a> {
        let (primitives, index) = self.find(id);
        primitives.words(index)
    }

    /// Returns true if a primitive covers all of the pixels from `[x, y]` on, of which there are so many along the axes.
    #[cold]
    pub fn covers_wholly(&self, id: PrimitiveId, [x, y]: [u32; 2], [width, height]: [u32; 2]) -> bool {
        let (primitives, index) = self.find(id);
        let (polygon, triangle) = (primitives.polygon(index), primitives.triangle(index));
        let parts = if polygon.is_empty() { std::slice::from_ref(&triangle) } else { polygon };
        let covers = |part: &Triangle, x: u32, y: u32| {
            part.covers_cell(i64::from(x) * UNITS, i64::from(y) * UNITS, UNITS, Criterion::Inner)
        };
        let mut pixels = (y..y + height).flat_map(|y| (x..x + width).map(move |x| [x, y]));
        pixels.all(|[x, y]| parts.iter().all(|part| covers(part, x, y)))
    }

    /// A primitive's shape.
    #[inline]
    pub fn shape(&self, id: PrimitiveId) -> Shape {
        let (primitives, index) = self.find(id);
        primitives.shape(index)
    }

    /// The draw state of a primitive.
    #[inline]
    pub fn draw_of(&self, id: PrimitiveId) -> usize {
        let runs = &self.bins[(id >> 16) as usize].runs;
        let run = match &runs[..] {
            [only] => only,
            runs => &runs[runs.partition_point(|run| run.end <= id & 0xffff)],
        };
        run.draw as usize
    }

    /// Its primitives, draw state by draw state.
    pub fn stretches(&self) -> impl Iterator<Item = Stretch<'a>> + Clone + use<'a> {
        self.bins.iter().zip(0..).flat_map(|(bin, number)| {
            let mut start = 0;
            bin.runs.iter().map(move |&Run { end, draw }| {
                let primitives = std::mem::replace(&mut start, end)..end;
                Stretch { bin: (bin, number), primitives, draw: draw as usize }
            })
        })
    }

    #[inline]
    fn find(&self, id: PrimitiveId) -> (&'a Primitives, u32) {
        (&self.bins[(id >> 16) as usize].primitives, id & 0xffff)
    }
}

/// Work that is done beside a walk: how many pieces, and what does one.
pub type Beside<'a> = (usize, &'a (dyn Fn(usize) + Sync));

/// Rasterizes windows, which were all sorted into the walk's tiles; threads that find no tile do what is `beside`. Returns false when a
/// program was interrupted.
pub fn walk(gpu: &Gpu, walk: Walk<'_>, (pieces, piece): Beside<'_>) -> bool {
    let grid = walk.grid;
    if let Some(clears) = walk.clears.filter(|clears| clears.all && walk.windows.is_empty()) {
        clears.clear_all(gpu, grid);
    }
    let mut tiles = match walk.clears {
        Some(clears) if clears.all => {
            (0..grid.count_all()).filter(|&tile| walk.is_drawn_to(tile) || clears.wants(tile)).collect()
        }
        _ => walk.parts.tiles(),
    };
    // The longer ones come first: at the end no thread waits long for another.
    tiles.sort_by_cached_key(|&tile| Reverse(walk.parts.count(tile)));
    let ok = AtomicBool::new(true);
    let counted = walk.counters.map(|counters| counters.walk(grid.columns as usize, grid.rows as usize));
    if let Some(counters) = walk.counters {
        counters.count(Counter::Windows, walk.windows.len() as u64);
        let tests = |count: fn(&Tests) -> u32| walk.windows.iter().map(|window| u64::from(count(&window.tests))).sum();
        counters.count(Counter::TilesConservative, tests(|tests| tests.evaluated));
        counters.count(Counter::TilesTouched, tests(|tests| tests.touched));
        counters.count(Counter::HizEarlyQueries, tests(|tests| tests.queries));
        counters.count(Counter::HizEarlyKills, tests(|tests| tests.kills));
        counters.count(Counter::Primitives, walk.windows.iter().map(|window| window.triangles.len() as u64).sum());
    }
    gpu.workers().parallel(
        pieces + tiles.len(),
        || (gpu.tiles().lend(), counted.map(counters::Walk::tally)),
        |(scratch, tally), index| {
            let Some(tile) = index.checked_sub(pieces).map(|index| tiles[index]) else { return piece(index) };
            let expired = walk.draws.first().is_some_and(|draw| draw.deadline.expired());
            let goes_on = ok.load(Ordering::Relaxed) && !expired;
            let sight = tally.as_ref().map(|tally| &tally.sight);
            let before = sight.map(Seen::new);
            let number = grid.place(tile).1;
            if !goes_on || !process_tile(&walk, tile, grid.pixels(number), scratch, sight) {
                ok.store(false, Ordering::Relaxed);
            }
            if let (Some(tally), Some(before)) = (tally, before) {
                walk.count_tile(tile, &tally.sight, &before);
                tally.end_tile(number);
            }
        },
    );
    ok.into_inner()
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
        let parts = TileParts::new(&windows, &grid);
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
