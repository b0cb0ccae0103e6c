//! Tiling: windows of primitives are sorted into 64x64-pixel tiles by conservative coverage, and workers walk the tiles.
//!
//! A window holds primitives of one draw state; the windows of a whole pass are walked together, as far as nothing forces an
//! earlier end. A tile's primitives keep API order, and no two workers ever hold the same tile, so images do not depend on the
//! number of workers, nor on the size of windows. A later walk may visit a tile again.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::counters::{self, Counter, Sight};
use crate::geometry::{Primitives, Shape};
use crate::gpu::Gpu;
use crate::hiz::Hierarchy;
use crate::pixel::{DrawContext, TileScratch, process_tile};
use crate::raster::{Criterion, TILE_LOG2, UNITS};

/// Most primitives of a window, and most windows of a walk: a primitive is known by 16 bits of each.
pub const MOST: usize = 1 << 16;

/// A window: primitives of one draw state, sorted into tiles.
#[derive(Debug)]
pub struct Window {
    /// Number of the draw state in the walk.
    pub draw: usize,
    /// Its primitives, in order, at most [`MOST`].
    pub primitives: Primitives,
    bins: Bins,
}

impl Window {
    /// The layer that they are drawn to.
    pub fn layer(&self) -> u32 {
        self.primitives.layer()
    }

    /// Its primitives in a tile, by its number in all layers.
    fn in_tile(&self, tile: usize, grid: &Grid) -> &[u16] {
        let (layer, tile) = (tile / grid.count(), tile % grid.count());
        if layer == self.layer() as usize { self.bins.of(tile) } else { &[] }
    }

    /// Sorts primitives, of the first draw state for now, into the tiles of a grid.
    pub fn new(primitives: Primitives, grid: &Grid) -> Self {
        let bins = Bins::new(&primitives, grid);
        Self { draw: 0, primitives, bins }
    }
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

    /// Pixels of a tile that lie in the render area.
    fn pixels(&self, tile: usize) -> [i64; 4] {
        let side = 1i64 << TILE_LOG2;
        let left = (self.first[0] + tile as i64 % self.columns) * side;
        let top = (self.first[1] + tile as i64 / self.columns) * side;
        let area = self.area;
        [left.max(area[0]), top.max(area[1]), (left + side).min(area[2]), (top + side).min(area[3])]
    }

    /// Calls `visit` with each tile that a primitive touches.
    fn touched(&self, primitives: &Primitives, index: u32, mut visit: impl FnMut(usize)) {
        let [x0, y0, x1, y1] = primitives.pixels(index);
        let triangle = OnceCell::new();
        let [left, top] = [tile_of(x0).max(self.first[0]), tile_of(y0).max(self.first[1])];
        let right = tile_of(x1 - 1).min(self.first[0] + self.columns - 1);
        let bottom = tile_of(y1 - 1).min(self.first[1] + self.rows - 1);
        let side = UNITS << TILE_LOG2;
        // What has pixels in no more than one tile touches that.
        let is_one = tile_of(x0) == tile_of(x1 - 1) && tile_of(y0) == tile_of(y1 - 1);
        for y in top..=bottom {
            for x in left..=right {
                if is_one
                    || triangle.get_or_init(|| primitives.triangle(index)).covers_cell(
                        x * side,
                        y * side,
                        side,
                        Criterion::Conservative,
                    )
                {
                    visit(((y - self.first[1]) * self.columns + x - self.first[0]) as usize);
                }
            }
        }
    }
}

/// The primitives of a window that touch each tile, in order.
#[derive(Debug)]
struct Bins {
    /// Where each tile's primitives end; they start where those of the tile before end.
    ends: Vec<u32>,
    primitives: Vec<u16>,
}

impl Bins {
    fn new(primitives: &Primitives, grid: &Grid) -> Self {
        let mut ends = vec![0u32; grid.count()];
        let mut pairs: Vec<(u32, u16)> = Vec::with_capacity(primitives.len());
        for index in 0..primitives.len() as u32 {
            grid.touched(primitives, index, |tile| {
                ends[tile] += 1;
                pairs.push((tile as u32, index as u16));
            });
        }
        let mut sum = 0;
        for end in &mut ends {
            // For now where the tile's primitives start.
            sum += std::mem::replace(end, sum);
        }
        let mut primitives = vec![0; pairs.len()];
        for (tile, primitive) in pairs {
            let place = &mut ends[tile as usize];
            primitives[*place as usize] = primitive;
            *place += 1;
        }
        Self { ends, primitives }
    }

    fn of(&self, tile: usize) -> &[u16] {
        let start = if tile == 0 { 0 } else { self.ends[tile - 1] };
        &self.primitives[start as usize..self.ends[tile] as usize]
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
    /// The visibility structure of the depth attachment.
    pub hierarchy: Option<&'a Hierarchy>,
    /// Whether fragments that newer ones cover are dropped before they are shaded.
    pub scoreboard: bool,
}

/// A primitive of a walk: number of the window above, number in the window below.
pub type PrimitiveId = u32;

/// The primitives of a window that touch a tile.
#[derive(Debug, Clone, Copy)]
pub struct Bin<'a> {
    /// Number of the draw state in the walk.
    pub draw: usize,
    /// The window's primitives.
    pub primitives: &'a Primitives,
    first: PrimitiveId,
    indices: &'a [u16],
}

impl<'a> Bin<'a> {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.indices.len()
    }

    /// Those that touch the tile, in order: numbers in the walk, and in the window.
    pub fn iter(&self) -> impl Iterator<Item = (PrimitiveId, u32)> + use<'a> {
        let first = self.first;
        self.indices.iter().map(move |&index| (first | u32::from(index), u32::from(index)))
    }
}

impl<'a> Walk<'a> {
    /// The primitives of a tile, by its number in all layers, in order.
    pub fn of_tile(&self, tile: usize) -> impl Iterator<Item = Bin<'a>> + Clone + use<'a> {
        let grid = self.grid;
        let bin = move |(number, window): (usize, &'a Window)| {
            let (Window { draw, primitives, .. }, indices) = (window, window.in_tile(tile, grid));
            let first = (number as u32) << 16;
            (!indices.is_empty()).then_some(Bin { draw: *draw, primitives, first, indices })
        };
        self.windows.iter().enumerate().filter_map(bin)
    }

    /// A primitive's words.
    #[inline]
    pub fn words(&self, id: PrimitiveId) -> &'a [u32] {
        let (primitives, index) = self.find(id);
        primitives.words(index)
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
        self.windows[(id >> 16) as usize].draw
    }

    /// The window of a primitive, and its number there.
    #[inline]
    pub fn find(&self, id: PrimitiveId) -> (&'a Primitives, u32) {
        (&self.windows[(id >> 16) as usize].primitives, id & 0xffff)
    }
}

/// Work that is done beside a walk: how many pieces, and what does one.
pub type Beside<'a> = (usize, &'a (dyn Fn(usize) + Sync));

/// Rasterizes windows, which were all sorted into the walk's tiles; threads that find no tile do what is `beside`. Returns false when a
/// program was interrupted.
pub fn walk(gpu: &Gpu, walk: Walk<'_>, (pieces, piece): Beside<'_>) -> bool {
    let grid = walk.grid;
    let is_touched = |tile: &usize| walk.windows.iter().any(|window| !window.in_tile(*tile, grid).is_empty());
    let tiles: Vec<usize> = (0..grid.count_all()).filter(is_touched).collect();
    let ok = AtomicBool::new(true);
    let seen =
        gpu.counters().map(|counters| (counters, counters::Walk::new(grid.columns as usize, grid.rows as usize)));
    if let Some((counters, _)) = &seen {
        counters.count(Counter::Windows, walk.windows.len() as u64);
        counters.count(Counter::Primitives, walk.windows.iter().map(|window| window.primitives.len() as u64).sum());
    }
    // The longer ones come first: at the end no thread waits long for another.
    gpu.workers().parallel(pieces + tiles.len(), TileScratch::default, |scratch, index| {
        let Some(tile) = index.checked_sub(pieces).map(|index| tiles[index]) else { return piece(index) };
        let expired = walk.draws.first().is_some_and(|draw| draw.deadline.expired());
        let goes_on = ok.load(Ordering::Relaxed) && !expired;
        let sight = seen.as_ref().map(|_| Sight::default());
        if !goes_on || !process_tile(&walk, tile, grid.pixels(tile % grid.count()), scratch, sight.as_ref()) {
            ok.store(false, Ordering::Relaxed);
        }
        if let (Some((counters, walk)), Some(sight)) = (&seen, sight) {
            counters.take(walk, tile % grid.count(), &sight);
        }
    });
    if let Some((counters, walk)) = seen {
        counters.finish(walk);
    }
    ok.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raster::Triangle;

    #[test]
    fn tiles_hold_what_touches_them_in_order() {
        let grid = Grid::new([10, 0, 200, 130], 2);
        assert_eq!(grid.count_all(), 24);
        assert_eq!((grid.count(), grid.pixels(0), grid.pixels(11)), (12, [10, 0, 64, 64], [192, 128, 200, 130]));
        let large = [[0, 0], [200, 0], [0, 200]];
        let small = [[70, 70], [72, 70], [70, 72]];
        let outside = [[300, 0], [310, 0], [300, 9]];
        let mut primitives = Primitives::default();
        primitives.start(0, 4, 0);
        for corners in [large, small, outside, small] {
            let corners = corners.map(|corner: [i32; 2]| corner.map(|pixels| pixels * UNITS as i32));
            let triangle = Triangle::clockwise(corners.map(|corner| corner.map(i64::from)));
            let pixels = triangle.pixel_bounds().map(|pixel| pixel as i32);
            primitives.push(corners, pixels, vec![0; Shape::WORDS].into_iter());
        }
        let bins = Bins::new(&primitives, &grid);
        assert_eq!(bins.of(0), [0]);
        assert_eq!(bins.of(5), [0, 1, 3]);
        assert!(bins.of(7).is_empty(), "what only the bounds of a triangle touch");
        assert_eq!(Grid::new([5, 5, 5, 9], 1).count(), 0);
    }
}
