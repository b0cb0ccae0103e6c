//! Bins: the triangles of a window that touch each tile. Only touched tiles that contain a pixel
//! of the draw's scissor are stored, so that the cost of a small draw does not depend on the size
//! of the render area.

use std::ops::Range;

use super::early_hiz::{Candidate, EarlyHizTest, TestCounts};
use super::{Batch, Clip, Window};
use crate::geometry::Triangles;
use crate::raster::{Grid, TileRect};

/// Triangles of a window by the tiles that they touch.
#[derive(Debug)]
pub(super) struct Bins {
    /// Touched tiles, ascending, and the end of each tile's triangles, which start at the end of
    /// the tile before.
    tiles: Vec<(u32, u32)>,
    /// Numbers of triangles, ascending for each tile.
    triangles: Vec<u16>,
}

/// Tests of triangles while they are sorted, and their counts.
pub(super) struct BinTests<'a> {
    /// Early Hi-Z test, if the draws have one.
    pub(super) early_hiz: Option<EarlyHizTest<'a>>,
    pub(super) counts: TestCounts,
}

/// Tiles that a draw may touch.
struct DrawTiles<'a> {
    grid: &'a Grid,
    tiles: TileRect,
}

/// Triangles of a tile, by their places in the list of all bins.
struct TileTriangles {
    tile: u32,
    start: u32,
    end: u32,
}

/// Pairs of a tile and a triangle that touches it, in the order of the triangles.
struct Touched {
    pairs: Vec<(u32, u16)>,
    /// Number of triangles of each tile; empty if they are not counted.
    counts: Vec<u32>,
}

impl Touched {
    #[inline(always)]
    fn push(&mut self, tile: u32, triangle: u16) {
        self.pairs.push((tile, triangle));
        if let Some(count) = self.counts.get_mut(tile as usize) {
            *count += 1;
        }
    }
}

impl Bins {
    /// Sorts triangles into the tiles of a layer that their draws may touch, except where they are
    /// known to be hidden.
    pub(super) fn new(triangles: &Triangles, grid: &Grid, clips: &[Clip], tests: &mut BinTests<'_>) -> Self {
        // The time of counting grows with the tiles, that of comparing with the triangles.
        let is_counted = triangles.len() * 8 >= grid.count();
        let counts = if is_counted { vec![0; grid.count()] } else { Vec::new() };
        let mut touched = Touched { pairs: Vec::with_capacity(triangles.len()), counts };
        let mut start = 0;
        for clip in clips {
            let range = start..clip.end.min(triangles.len() as u32);
            start = range.end;
            let tiles = DrawTiles { grid, tiles: grid.tiles_within(clip.pixels) };
            Self::bin_run(triangles, range, &tiles, tests, &mut touched);
        }
        let Touched { pairs, counts } = touched;
        if is_counted { Self::counted(&pairs, counts) } else { Self::sorted(pairs) }
    }

    /// Adds each of `tiles` that a triangle of a range touches, except where it is known to be
    /// hidden.
    #[inline]
    fn bin_run(
        triangles: &Triangles,
        range: Range<u32>,
        DrawTiles { grid, tiles }: &DrawTiles<'_>,
        BinTests { early_hiz, counts }: &mut BinTests<'_>,
        touched: &mut Touched,
    ) {
        let first = triangles.layer() as usize * grid.count();
        for index in range {
            // Most triangles lie in one tile. They are too small for an early test.
            if let Some(tile) = grid.only_tile(triangles.pixels(index), tiles) {
                touched.push(tile, index as u16);
                continue;
            }
            let candidate = early_hiz.and_then(|test| Some((test, test.candidate(triangles, index, *counts)?)));
            let mut count = 0;
            let pixels = triangles.pixels(index).map(i64::from);
            let evaluated = grid.touched_by(
                pixels,
                tiles,
                || triangles.triangle(index),
                |tile| {
                    count += 1;
                    let hides = |(test, candidate): &(EarlyHizTest<'_>, Candidate)| {
                        test.hides(first + tile, grid.pixels(tile), candidate, counts)
                    };
                    if !candidate.as_ref().is_some_and(hides) {
                        touched.push(tile as u32, index as u16);
                    }
                },
            );
            if evaluated > 0 {
                (counts.evaluated, counts.touched) = (counts.evaluated + evaluated, counts.touched + count);
            }
        }
    }

    fn sorted(mut pairs: Vec<(u32, u16)>) -> Self {
        pairs.sort_unstable();
        let mut tiles: Vec<(u32, u32)> = Vec::with_capacity(pairs.len());
        for (place, &(tile, _)) in (1..).zip(&pairs) {
            match tiles.last_mut().filter(|last| last.0 == tile) {
                Some((_, end)) => *end = place,
                None => tiles.push((tile, place)),
            }
        }
        Self { tiles, triangles: pairs.into_iter().map(|(_, triangle)| triangle).collect() }
    }

    /// Returns the bins of pairs, given the number of triangles of each tile.
    fn counted(pairs: &[(u32, u16)], mut counts: Vec<u32>) -> Self {
        let mut sum = 0;
        for count in &mut counts {
            // The start of the tile's triangles, which becomes their end below.
            sum += std::mem::replace(count, sum);
        }
        let mut triangles = vec![0; pairs.len()];
        for &(tile, triangle) in pairs {
            let place = &mut counts[tile as usize];
            triangles[*place as usize] = triangle;
            *place += 1;
        }
        let mut last = 0;
        let tiles = (0..).zip(counts).filter(|&(_, end)| std::mem::replace(&mut last, end) < end).collect();
        Self { tiles, triangles }
    }

    /// Returns the numbers of the triangles of a part.
    pub(super) fn of(&self, part: WindowPart) -> &[u16] {
        &self.triangles[part.start as usize..part.end as usize]
    }

    /// Returns the numbers of the triangles that touch a tile.
    #[cfg(test)]
    pub(super) fn in_tile(&self, tile: usize) -> &[u16] {
        let found = self.tiles().find(|touched| touched.tile as usize == tile);
        found.map_or(&[], |TileTriangles { start, end, .. }| &self.triangles[start as usize..end as usize])
    }

    /// Returns the triangles of a tile, of window `number`, that lie `within` a range of the
    /// window's triangles.
    fn part(&self, number: u32, &TileTriangles { start, end, .. }: &TileTriangles, within: &Range<u32>) -> WindowPart {
        let mut part = WindowPart { window: number, start, end };
        // Most batches include whole windows.
        if within.start > 0 || within.end < u32::MAX {
            let place = |bound: u32| self.of(part).partition_point(|&index| u32::from(index) < bound) as u32;
            (part.start, part.end) = (start + place(within.start), start + place(within.end));
        }
        part
    }

    /// Returns the touched tiles, with start and end of their triangles.
    fn tiles(&self) -> impl Iterator<Item = TileTriangles> {
        let mut start = 0;
        self.tiles.iter().map(move |&(tile, end)| TileTriangles {
            tile,
            start: std::mem::replace(&mut start, end),
            end,
        })
    }
}

/// Triangles of a window that touch a tile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WindowPart {
    /// Number of the window.
    pub window: u32,
    start: u32,
    end: u32,
}

/// Parts of windows that touch each tile of all layers.
#[derive(Debug)]
pub struct TileParts {
    ends: Ends,
    parts: Vec<WindowPart>,
}

/// End of the parts of each tile, which start at the end of the tile before.
#[derive(Debug)]
enum Ends {
    /// Ends of all tiles.
    All(Vec<u32>),
    /// Ends of the tiles that have parts, ascending, if these are few.
    Few(Vec<(u32, u32)>),
}

impl TileParts {
    /// Returns the parts of a batch of windows that were sorted into the tiles of a grid.
    pub fn new(windows: &[Window], grid: &Grid, batch: &Batch) -> Self {
        let numbers = batch.windows.clone();
        let of_batch = &windows[numbers.start as usize..numbers.end as usize];
        // Triangles of layers beyond those of the pass are not drawn.
        let drawn = || numbers.clone().zip(of_batch).filter(|(_, window)| (window.layer() as usize) < grid.layers());
        let parts = || {
            drawn().flat_map(|(number, window)| {
                let first = (window.layer() as usize * grid.count()) as u32;
                let within = batch.primitives(number);
                let part = move |touched: TileTriangles| {
                    let (tile, part) = (first + touched.tile, window.bins.part(number, &touched, &within));
                    (part.count() > 0).then_some((tile, part))
                };
                window.bins.tiles().filter_map(part)
            })
        };
        let count: usize = drawn().map(|(_, window)| window.bins.tiles.len()).sum();
        // The time of counting grows with the tiles, that of comparing with the parts.
        if count * 8 < grid.count_all() {
            Self::sorted(parts().collect())
        } else {
            Self::counted(parts, grid.count_all())
        }
    }

    fn sorted(mut all: Vec<(u32, WindowPart)>) -> Self {
        // The parts of a tile belong to different windows.
        all.sort_unstable_by_key(|&(tile, part)| (tile, part.window));
        let mut ends: Vec<(u32, u32)> = Vec::with_capacity(all.len());
        for (place, &(tile, _)) in (1..).zip(&all) {
            match ends.last_mut().filter(|last| last.0 == tile) {
                Some((_, end)) => *end = place,
                None => ends.push((tile, place)),
            }
        }
        Self { ends: Ends::Few(ends), parts: all.into_iter().map(|(_, part)| part).collect() }
    }

    fn counted<I: Iterator<Item = (u32, WindowPart)>>(all: impl Fn() -> I, tiles: usize) -> Self {
        let mut ends = vec![0u32; tiles];
        all().for_each(|(tile, _)| ends[tile as usize] += 1);
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut parts = vec![WindowPart::default(); sum as usize];
        for (tile, part) in all() {
            let place = &mut ends[tile as usize];
            parts[*place as usize] = part;
            *place += 1;
        }
        Self { ends: Ends::All(ends), parts }
    }

    /// Returns the parts of a tile, in order.
    pub fn of(&self, tile: usize) -> &[WindowPart] {
        let (start, end) = match &self.ends {
            Ends::All(ends) => (tile.checked_sub(1).map_or(0, |before| ends[before]), ends[tile]),
            Ends::Few(ends) => match ends.binary_search_by_key(&(tile as u32), |&(tile, _)| tile) {
                Ok(number) => (number.checked_sub(1).map_or(0, |before| ends[before].1), ends[number].1),
                Err(_) => (0, 0),
            },
        };
        &self.parts[start as usize..end as usize]
    }

    /// Returns the tiles that have parts, ascending.
    pub fn tiles(&self) -> Vec<usize> {
        match &self.ends {
            Ends::All(ends) => (0..ends.len()).filter(|&tile| !self.of(tile).is_empty()).collect(),
            Ends::Few(ends) => ends.iter().map(|&(tile, _)| tile as usize).collect(),
        }
    }
}

impl TileParts {
    /// Returns the number of triangles that touch a tile.
    pub fn count(&self, tile: usize) -> usize {
        self.of(tile).iter().map(|part| part.count()).sum()
    }
}

impl WindowPart {
    /// Returns the number of triangles of the part.
    pub fn count(self) -> usize {
        (self.end - self.start) as usize
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn both_ways_of_sorting_agree(pairs in prop::collection::vec(0u32..40, 0..100)) {
            let pairs: Vec<_> = pairs.into_iter().enumerate().map(|(index, tile)| (tile, index as u16)).collect();
            let mut counts = vec![0; 40];
            pairs.iter().for_each(|&(tile, _)| counts[tile as usize] += 1);
            let (sorted, counted) = (Bins::sorted(pairs.clone()), Bins::counted(&pairs, counts));
            prop_assert_eq!(&sorted.tiles, &counted.tiles);
            prop_assert_eq!(&sorted.triangles, &counted.triangles);
            let parts = || sorted.tiles().map(|TileTriangles { tile, start, end }| (tile, WindowPart { window: 3, start, end }));
            let other = (7, WindowPart { window: 1, start: 0, end: 1 });
            let parts = || std::iter::once(other).chain(parts());
            let (few, all) = (TileParts::sorted(parts().collect()), TileParts::counted(parts, 40));
            prop_assert_eq!(few.tiles(), all.tiles());
            for tile in 0..40 {
                prop_assert_eq!(few.of(tile), all.of(tile));
            }
            for TileTriangles { tile, start, end } in sorted.tiles() {
                let expected: Vec<_> = pairs.iter().filter(|pair| pair.0 == tile).map(|pair| pair.1).collect();
                prop_assert_eq!(sorted.of(WindowPart { window: 0, start, end }), expected);
            }
        }
    }
}
