//! Tiling: a window of primitives is sorted into 64x64-pixel tiles by conservative coverage, and workers walk the tiles.
//!
//! A tile's primitives keep API order, and no two workers ever hold the same tile, so images do not depend on the number of
//! workers. A later window may visit a tile again.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::geometry::Primitives;
use crate::gpu::Gpu;
use crate::pixel::{DrawContext, TileScratch, process_tile};
use crate::raster::{Criterion, TILE_LOG2, Triangle, UNITS};

/// Rasterizes a window of primitives inside the render area (`[x0, y0, x1, y1]`, pixels). Returns false when a program was
/// interrupted.
pub fn walk(gpu: &Gpu, context: &DrawContext<'_>, primitives: &Primitives, area: [i64; 4]) -> bool {
    let bins = bin(primitives.triangles(), area);
    let ok = AtomicBool::new(true);
    gpu.workers().parallel(bins.len(), TileScratch::default, |scratch, index| {
        let (tile, bin) = &bins[index];
        let goes_on = ok.load(Ordering::Relaxed) && !context.deadline.expired();
        if !goes_on || !process_tile(context, primitives, bin, clip(*tile, area), scratch) {
            ok.store(false, Ordering::Relaxed);
        }
    });
    ok.into_inner()
}

/// Pixels of a tile that lie in the render area.
fn clip([x, y]: [i64; 2], area: [i64; 4]) -> [i64; 4] {
    let side = 1i64 << TILE_LOG2;
    let (left, top) = (x * side, y * side);
    [left.max(area[0]), top.max(area[1]), (left + side).min(area[2]), (top + side).min(area[3])]
}

/// Tiles with the primitives that touch them, in order; tiles without any are left out.
fn bin(triangles: &[Triangle], area: [i64; 4]) -> Vec<([i64; 2], Vec<u32>)> {
    let tile = |pixel: i64| pixel >> TILE_LOG2;
    let first = [tile(area[0]), tile(area[1])];
    let last = [tile(area[2] - 1), tile(area[3] - 1)];
    let (columns, rows) = (last[0] - first[0] + 1, last[1] - first[1] + 1);
    if columns <= 0 || rows <= 0 {
        return Vec::new();
    }
    let mut bins = vec![Vec::new(); (columns * rows) as usize];
    for (index, triangle) in triangles.iter().enumerate() {
        let [x0, y0, x1, y1] = triangle.pixel_bounds();
        for y in tile(y0).max(first[1])..=tile(y1 - 1).min(last[1]) {
            for x in tile(x0).max(first[0])..=tile(x1 - 1).min(last[0]) {
                let side = UNITS << TILE_LOG2;
                if triangle.covers_cell(x * side, y * side, side, Criterion::Conservative) {
                    bins[((y - first[1]) * columns + x - first[0]) as usize].push(index as u32);
                }
            }
        }
    }
    let place = |index: usize| [first[0] + index as i64 % columns, first[1] + index as i64 / columns];
    let numbered = bins.into_iter().enumerate().filter(|(_, bin)| !bin.is_empty());
    numbered.map(|(index, bin)| (place(index), bin)).collect()
}
