//! The grid of 64x64-pixel tiles over a render area.

use super::{Criterion, TILE_LOG2, Triangle, UNITS};

/// Rectangle of tiles of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileRect {
    /// Column and row of the first tile, in tiles of the image.
    first: [i64; 2],
    /// Number of columns and rows.
    size: [i64; 2],
}

/// Tiles of a render area, in some layers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Grid {
    /// Render area in pixels: `[x0, y0, x1, y1]` with exclusive ends.
    area: [i64; 4],
    first: [i64; 2],
    columns: i64,
    rows: i64,
    layers: usize,
}

/// Returns the column or row of tiles in which a pixel lies.
fn tile_of(pixel: i64) -> i64 {
    pixel >> TILE_LOG2
}

impl Grid {
    /// Returns the number of columns and rows of tiles.
    pub fn size(&self) -> [i64; 2] {
        [self.columns, self.rows]
    }

    /// Returns the number of the tile in a column and a row of tiles of the image, which is one of
    /// the grid's.
    #[inline]
    pub fn number(&self, [column, row]: [i64; 2]) -> usize {
        ((row - self.first[1]) * self.columns + column - self.first[0]) as usize
    }

    /// Returns the first and the last tile, by column and row, that any of these pixels lies in.
    #[inline]
    pub fn corners([x0, y0, x1, y1]: [i64; 4]) -> [[i64; 2]; 2] {
        [[tile_of(x0), tile_of(y0)], [tile_of(x1 - 1), tile_of(y1 - 1)]]
    }

    /// Returns the grid of a render area, which may be empty, in a number of layers.
    pub fn new(area: [i64; 4], layers: u32) -> Self {
        let first = [tile_of(area[0]), tile_of(area[1])];
        let count =
            |axis: usize| if area[axis] < area[axis + 2] { tile_of(area[axis + 2] - 1) - first[axis] + 1 } else { 0 };
        Self { area, first, columns: count(0), rows: count(1), layers: layers as usize }
    }

    /// Returns the number of layers.
    pub fn layers(&self) -> usize {
        self.layers
    }

    /// Returns the render area: `[x0, y0, x1, y1]` in pixels, with exclusive ends.
    pub fn area(&self) -> [i64; 4] {
        self.area
    }

    /// Returns the number of tiles of a layer.
    pub fn count(&self) -> usize {
        (self.columns * self.rows) as usize
    }

    /// Returns the number of tiles of all layers. Tiles are numbered layer by layer.
    pub fn count_all(&self) -> usize {
        self.count() * self.layers
    }

    /// Returns the layer and the first pixel of each tile, layer by layer.
    pub fn places(&self) -> impl Iterator<Item = (usize, [i64; 2])> {
        (0..self.count_all()).map(|tile| {
            let (layer, number) = self.place(tile);
            let [x, y, ..] = self.pixels(number);
            (layer, [x, y])
        })
    }

    /// Returns the layer of a tile, given its number in all layers, and its number in that layer.
    pub fn place(&self, tile: usize) -> (usize, usize) {
        (tile / self.count(), tile % self.count())
    }

    /// Returns the pixels of a tile of a layer that lie in the render area.
    pub fn pixels(&self, tile: usize) -> [i64; 4] {
        let side = 1i64 << TILE_LOG2;
        let left = (self.first[0] + tile as i64 % self.columns) * side;
        let top = (self.first[1] + tile as i64 / self.columns) * side;
        let area = self.area;
        [left.max(area[0]), top.max(area[1]), (left + side).min(area[2]), (top + side).min(area[3])]
    }

    /// Returns the tiles that contain any pixel of a rectangle.
    pub fn tiles_within(&self, pixels: [i64; 4]) -> TileRect {
        let part = Self::new(within(pixels, self.area), 1);
        TileRect { first: part.first, size: [part.columns, part.rows] }
    }

    /// Returns the number of the tile in which all pixels of a rectangle that is not empty lie, if
    /// it is one of `tiles`.
    #[inline]
    pub fn only_tile(&self, [x0, y0, x1, y1]: [i16; 4], tiles: &TileRect) -> Option<u32> {
        let tile = |pixel: i16| i32::from(pixel) >> TILE_LOG2;
        let (x, y) = (tile(x0), tile(y0));
        let is_one = (x == tile(x1 - 1)) & (y == tile(y1 - 1));
        let from = |first: &[i64; 2], axis: usize| ([x, y][axis] - first[axis] as i32) as u32;
        let is_inside = |axis: usize| from(&tiles.first, axis) < tiles.size[axis] as u32;
        let number = || from(&self.first, 1) * self.columns as u32 + from(&self.first, 0);
        (is_one & is_inside(0) & is_inside(1)).then(number)
    }

    /// Calls `visit` with each of `tiles` that a triangle touches, given a rectangle of the pixels
    /// that the triangle may cover. `coverage` is called only where the rectangle does not decide,
    /// and returns the triangle with the criterion by which it touches tiles. Returns the number of
    /// tiles for which coverage was evaluated.
    pub fn touched_by(
        &self,
        [x0, y0, x1, y1]: [i64; 4],
        tiles: &TileRect,
        coverage: impl FnOnce() -> (Triangle, Criterion),
        mut visit: impl FnMut(usize),
    ) -> u32 {
        let [first, last] = Self::corners([x0, y0, x1, y1]);
        let [left, top] = [0, 1].map(|axis: usize| first[axis].max(tiles.first[axis]));
        let [right, bottom] = [0, 1].map(|axis: usize| last[axis].min(tiles.first[axis] + tiles.size[axis] - 1));
        let number = |x: i64, y: i64| self.number([x, y]);
        if left > right || top > bottom {
            return 0;
        }
        if first[0] == last[0] || first[1] == last[1] {
            // The triangle reaches from the first tile to the last one, through all tiles between
            // them.
            (top..=bottom).for_each(|y| (left..=right).for_each(|x| visit(number(x, y))));
            return 0;
        }
        let ((triangle, criterion), side) = (coverage(), UNITS << TILE_LOG2);
        for (x, y) in (top..=bottom).flat_map(|y| (left..=right).map(move |x| (x, y))) {
            if triangle.covers_cell(x * side, y * side, side, criterion) {
                visit(number(x, y));
            }
        }
        ((right - left + 1) * (bottom - top + 1)) as u32
    }
}

/// Returns the intersection of two rectangles `[x0, y0, x1, y1]` with exclusive ends.
#[inline]
pub fn within([x0, y0, x1, y1]: [i64; 4], other: [i64; 4]) -> [i64; 4] {
    [x0.max(other[0]), y0.max(other[1]), x1.min(other[2]), y1.min(other[3])]
}
