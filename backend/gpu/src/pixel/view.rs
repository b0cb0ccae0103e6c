//! A pass as its tiles see it: windows and their draws, and the primitives of a tile, set up.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::MutexGuard;
use vitric_base::counters::Counters;
use vitric_base::workers::Workers;

use super::DrawContext;
use crate::geometry::{Batch, MAX_TRIANGLES, Primitives, Words};
use crate::hiz::{Bounds, Hierarchy};
use crate::raster::{Criterion, Grid, Shape, Triangle, UNITS};
use crate::tiling::{Run, TileParts, Window};
use crate::transfer::PlaneClear;

/// The windows of a walk, as the pixel units see them.
#[derive(Clone, Copy)]
pub struct TilePass<'a> {
    /// The tiles.
    pub grid: &'a Grid,
    /// Draw states, by the windows' numbers.
    pub draws: &'a [DrawContext<'a>],
    /// Windows, in order, at most [`MAX_TRIANGLES`].
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
    pub(super) fn wants(&self, tile: usize) -> bool {
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
    pub(super) fn clear_all(&self, workers: &Workers, grid: &Grid) {
        if self.done.iter().all(|done| !done.load(Ordering::Relaxed)) {
            self.kept.iter().for_each(|plane| plane.clear_on(workers, grid.area()));
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
pub struct PrimitiveRun<'a> {
    /// The bin, and its number.
    pub bin: (&'a Bin, u32),
    /// Their numbers there.
    pub primitives: Range<u32>,
    /// Number of the draw state in the walk.
    pub draw: usize,
}

impl<'a> TilePass<'a> {
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
                parts.next_if(|(part, window)| alike(window) && triangles.len() + part.count() <= MAX_TRIANGLES)
            {
                let indices = window.triangles_of(part);
                bin.add_runs(&window.runs, indices, triangles.len());
                triangles.extend(indices.iter().map(|&index| part.window << 16 | u32::from(index)));
            }
            bin.primitives.set_up(first.triangles.plan(), (triangles, find), batches);
            count += 1;
        }
        &bins[..count]
    }
}

/// A primitive of a tile: number of the bin above, number in the bin below.
pub type PrimitiveId = u32;

/// What of a walk a tile sees: its primitives, set up.
#[derive(Clone, Copy)]
pub struct TileView<'a> {
    /// Draw states, by the bins' numbers.
    pub draws: &'a [DrawContext<'a>],
    /// Primitives, in order.
    pub bins: &'a [Bin],
    /// Whether fragments that newer ones cover are dropped before they are shaded.
    pub scoreboard: bool,
}

impl<'a> TileView<'a> {
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
    pub fn primitive_runs(&self) -> impl Iterator<Item = PrimitiveRun<'a>> + Clone + use<'a> {
        self.bins.iter().zip(0..).flat_map(|(bin, number)| {
            let mut start = 0;
            bin.runs.iter().map(move |&Run { end, draw }| {
                let primitives = std::mem::replace(&mut start, end)..end;
                PrimitiveRun { bin: (bin, number), primitives, draw: draw as usize }
            })
        })
    }

    #[inline]
    fn find(&self, id: PrimitiveId) -> (&'a Primitives, u32) {
        (&self.bins[(id >> 16) as usize].primitives, id & 0xffff)
    }
}
