//! A pass as its tiles see it: windows, their draws, and the primitives of a tile after set-up.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use vitric_base::counters::{Counters, DrawSample, TileCounters};
use vitric_base::workers::Workers;
use vitric_memory::PlaneRef;

use super::DrawContext;
use crate::geometry::{MAX_TRIANGLES, PrimitiveWords, Primitives, TriangleBatch};
use crate::hiz::{BoundsInUse, Hierarchy};
use crate::raster::{Criterion, Grid, Shape, Triangle, UNITS};
use crate::tiling::{DrawId, Run, TileParts, VisibleGroups, Window};
use crate::transfer::PlaneClear;

/// Windows and draws of one pass over the tiles.
#[derive(Clone, Copy)]
pub struct TilePass<'a> {
    /// Grid of the tiles.
    pub grid: &'a Grid,
    /// Draw states, by the draw numbers in the windows.
    pub draws: &'a [DrawContext<'a>],
    /// Windows in API order, at most [`MAX_TRIANGLES`].
    pub windows: &'a [Window],
    /// Parts of the windows that touch each tile.
    pub parts: &'a TileParts,
    /// Hi-Z structures of the depth attachment, by layer. The last layers may have none.
    pub depths: &'a [Arc<Hierarchy>],
    /// Planes to clear before a tile is first drawn to.
    pub(crate) clears: Option<&'a TileClears<'a>>,
    /// True if this pass also clears the remaining tiles, including those without draws.
    pub clears_all: bool,
    /// True if fragments that newer fragments cover are dropped before shading.
    pub scoreboard: bool,
    /// Counters, if counting is on.
    pub counters: Option<&'a Counters>,
    /// Tiles that earlier passes have processed, if counting is on.
    pub(crate) processed: Option<&'a ProcessedTiles<'a>>,
}

/// Tiles that the tile passes of a render pass have processed.
pub(crate) struct ProcessedTiles<'a> {
    /// For each tile, one more than the number of the last subpass that processed it, or 0.
    pub last: &'a [AtomicU32],
    /// Number of the current subpass.
    pub subpass: u32,
    /// Planes that are undefined in tiles that the current subpass has not processed.
    pub undefined: Vec<PlaneRef<'a>>,
}

impl<'a> ProcessedTiles<'a> {
    /// Marks a tile as processed. Returns true if an earlier tile pass has processed it.
    pub(super) fn mark(&self, tile: usize) -> bool {
        self.last[tile].swap(self.subpass + 1, Ordering::Relaxed) != 0
    }

    /// Returns the planes that are undefined in a tile.
    pub(super) fn undefined_planes(&self, tile: usize) -> &[PlaneRef<'a>] {
        let is_new = self.last[tile].load(Ordering::Relaxed) != self.subpass + 1;
        if is_new { &self.undefined } else { &[] }
    }
}

/// Planes that are cleared tile by tile, so that a tile is in the caches when its draws follow.
pub(crate) struct TileClears<'a> {
    /// All planes to clear.
    pub planes: Vec<PlaneClear<'a>>,
    /// Planes that must be cleared even in tiles without draws.
    pub kept: Vec<PlaneClear<'a>>,
    /// For each tile, whether it was cleared.
    pub done: &'a [AtomicBool],
}

impl TileClears<'_> {
    /// Returns true if a tile without draws has planes to clear.
    pub(super) fn needs_clear(&self, tile: usize) -> bool {
        !self.kept.is_empty() && !self.done[tile].load(Ordering::Relaxed)
    }

    /// Marks a tile as cleared and returns the planes to clear there. Returns none if the tile was
    /// cleared before.
    ///
    /// `drawn` is true if the tile has primitives. The caller must clear the planes, and must be
    /// the only thread that processes the tile.
    pub fn due(&self, tile: usize, drawn: bool) -> &[PlaneClear<'_>] {
        match self.done[tile].swap(true, Ordering::Relaxed) {
            true => &[],
            false if drawn => &self.planes,
            false => &self.kept,
        }
    }

    /// Clears all tiles at once, row by row, if no tile was cleared yet.
    pub(super) fn clear_all(&self, workers: &Workers, grid: &Grid) {
        if self.done.iter().all(|done| !done.load(Ordering::Relaxed)) {
            self.kept.iter().for_each(|plane| plane.clear_on(workers, grid.area()));
            self.done.iter().for_each(|done| done.store(true, Ordering::Relaxed));
        }
    }
}

/// Reusable memory for the primitive set-up of tiles.
#[derive(Debug, Default)]
pub struct SetUpScratch {
    batches: [TriangleBatch; 2],
    bins: Vec<Bin>,
    /// Triangles: number of the window in the upper 16 bits, index in the window in the lower 16
    /// bits.
    triangles: Vec<u32>,
}

/// Primitives of consecutive windows that touch a tile and share one set-up plan.
#[derive(Debug, Default)]
pub struct Bin {
    /// Draw states of the primitives.
    runs: Vec<Run>,
    /// Primitives in API order.
    pub primitives: Primitives,
    /// Primitives that are hidden in some groups of the tile, ascending, and the groups, as bits,
    /// that may show them.
    partial: Vec<(u32, u64)>,
}

impl Bin {
    /// Returns the draw number of the first primitive.
    pub fn first_draw(&self) -> Option<usize> {
        self.runs.first().map(|run| run.draw.state as usize)
    }

    /// Returns the groups of the tile, as bits, that may show a primitive.
    pub(super) fn visible_groups(&self, index: u32) -> u64 {
        let found = self.partial.binary_search_by_key(&index, |(number, _)| *number);
        found.map_or(u64::MAX, |found| self.partial[found].1)
    }

    /// Appends the visible groups of those of the window's triangles in `indices` that are hidden
    /// in some groups. The bin already contains `before` triangles.
    fn add_partial(&mut self, partial: &[VisibleGroups], indices: &[u16], before: usize) {
        let place = |partial: &VisibleGroups| {
            let place = indices.binary_search(&partial.triangle).ok()?;
            Some(((before + place) as u32, partial.groups))
        };
        self.partial.extend(partial.iter().filter_map(place));
    }

    /// Appends the draw states of the window's triangles in `indices`. The bin already contains
    /// `before` triangles.
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

/// Consecutive primitives of one draw in a bin.
#[derive(Debug, Clone)]
pub struct PrimitiveRun<'a> {
    /// The bin and its number.
    pub bin: (&'a Bin, u32),
    /// Range of the primitives' indices in the bin.
    pub primitives: Range<u32>,
    /// Number of the draw state in the pass.
    pub draw: usize,
    /// Sample of the draw, if the GPU counts.
    pub sample: Option<DrawSample>,
}

impl<'a> TilePass<'a> {
    /// Returns the locked depth bounds of a tile, if it has any.
    pub fn bounds(&self, tile: usize) -> Option<BoundsInUse<'a>> {
        let (layer, number) = self.grid.place(tile);
        let [x, y, ..] = self.grid.pixels(number);
        self.depths.get(layer)?.tile([x, y])
    }

    /// Returns true if any primitive was put into a tile.
    pub fn is_drawn_to(&self, tile: usize) -> bool {
        !self.parts.of(tile).is_empty()
    }

    /// Sets up the primitives of a tile, in API order.
    pub fn set_up<'s>(&self, tile: usize, scratch: &'s mut SetUpScratch) -> &'s [Bin] {
        let SetUpScratch { batches, bins, triangles } = scratch;
        let find = |id: u32| (&self.windows[(id >> 16) as usize].triangles, id & 0xffff);
        let mut parts = self.parts.of(tile).iter().map(|&part| (part, &self.windows[part.window as usize])).peekable();
        let (mut count, number) = (0, self.grid.place(tile).1);
        while let Some(&(_, first)) = parts.peek() {
            triangles.clear();
            if bins.len() == count {
                bins.push(Bin::default());
            }
            let bin = &mut bins[count];
            bin.runs.clear();
            bin.partial.clear();
            let alike = |window: &Window| window.triangles.plan() == first.triangles.plan();
            while let Some((part, window)) =
                parts.next_if(|(part, window)| alike(window) && triangles.len() + part.count() <= MAX_TRIANGLES)
            {
                let indices = window.triangles_of(part);
                bin.add_runs(&window.runs, indices, triangles.len());
                bin.add_partial(window.partial_in(number), indices, triangles.len());
                triangles.extend(indices.iter().map(|&index| part.window << 16 | u32::from(index)));
            }
            bin.primitives.set_up(first.triangles.plan(), (triangles, find), batches);
            count += 1;
        }
        &bins[..count]
    }
}

/// Primitive of a tile: number of the bin in the upper 16 bits, index in the bin in the lower 16
/// bits.
pub type PrimitiveId = u32;

/// View of one tile in a pass: its primitives after set-up.
#[derive(Clone, Copy)]
pub struct TileView<'a> {
    /// Draw states, by the draw numbers in the bins.
    pub draws: &'a [DrawContext<'a>],
    /// Bins of primitives in API order.
    pub bins: &'a [Bin],
    /// True if fragments that newer fragments cover are dropped before shading.
    pub scoreboard: bool,
    /// Pixels of the tile inside the render area: `[x0, y0, x1, y1]`, end exclusive.
    pub area: [i64; 4],
    /// Counters of the tile, if counting is on.
    pub counters: Option<&'a TileCounters>,
}

impl<'a> TileView<'a> {
    /// View of a tile without primitives.
    pub(super) const NONE: Self = Self { draws: &[], bins: &[], scoreboard: false, area: [0; 4], counters: None };

    /// Returns the words of a primitive.
    #[inline]
    pub fn words(&self, id: PrimitiveId) -> PrimitiveWords<'a> {
        let (primitives, index) = self.find(id);
        primitives.words(index)
    }

    /// Returns true if a primitive fully covers all pixels of the rectangle at `[x, y]` with size
    /// `[width, height]`. As in underestimation, pixels that an edge touches are not fully covered.
    #[cold]
    pub fn covers_fully(&self, id: PrimitiveId, [x, y]: [u32; 2], [width, height]: [u32; 2]) -> bool {
        let (primitives, index) = self.find(id);
        let (polygon, triangle) = (primitives.polygon(index), primitives.triangle(index));
        let parts = if polygon.is_empty() { std::slice::from_ref(&triangle) } else { polygon };
        let covers = |part: &Triangle, x: u32, y: u32| {
            part.covers_cell(i64::from(x) * UNITS, i64::from(y) * UNITS, UNITS, Criterion::Interior)
        };
        let mut pixels = (y..y + height).flat_map(|y| (x..x + width).map(move |x| [x, y]));
        pixels.all(|[x, y]| parts.iter().all(|part| covers(part, x, y)))
    }

    /// Returns the shape of a primitive.
    #[inline]
    pub fn shape(&self, id: PrimitiveId) -> Shape {
        let (primitives, index) = self.find(id);
        primitives.shape(index)
    }

    /// Returns the number of a primitive's draw state.
    #[inline]
    pub fn draw_of(&self, id: PrimitiveId) -> usize {
        self.id_of(id).state as usize
    }

    /// Returns the draw of a primitive.
    #[inline]
    pub fn id_of(&self, id: PrimitiveId) -> DrawId {
        let runs = &self.bins[(id >> 16) as usize].runs;
        let run = match &runs[..] {
            [only] => only,
            runs => &runs[runs.partition_point(|run| run.end <= id & 0xffff)],
        };
        run.draw
    }

    /// Returns the sample of a primitive's draw, if there is one.
    pub(super) fn sample_of(&self, id: PrimitiveId) -> Option<DrawSample> {
        if self.bins.is_empty() { None } else { self.id_of(id).sample }
    }

    /// Returns the primitives of the tile as runs of one draw each, in API order.
    pub fn primitive_runs(&self) -> impl Iterator<Item = PrimitiveRun<'a>> + Clone + use<'a> {
        self.bins.iter().zip(0..).flat_map(|(bin, number)| {
            let mut start = 0;
            bin.runs.iter().map(move |&Run { end, draw }| {
                let primitives = std::mem::replace(&mut start, end)..end;
                PrimitiveRun { bin: (bin, number), primitives, draw: draw.state as usize, sample: draw.sample }
            })
        })
    }

    #[inline]
    fn find(&self, id: PrimitiveId) -> (&'a Primitives, u32) {
        (&self.bins[(id >> 16) as usize].primitives, id & 0xffff)
    }
}
