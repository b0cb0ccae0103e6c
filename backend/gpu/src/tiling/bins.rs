//! Bins: the triangles of a window that touch each tile. Only touched tiles that contain a pixel
//! of the draw's scissor are stored, so that the cost of a small draw does not depend on the size
//! of the render area.

use std::ops::Range;

use vitric_base::simd::WAVE;

use super::early_hiz::{Candidate, EarlyHizTest, TriangleBlock, WindowTests};
use super::{Batch, TriangleRun, Window};
use crate::geometry::Triangles;
use crate::raster::{Grid, TileRect, within};

/// Triangles of a window by the tiles that they touch.
#[derive(Debug)]
pub(super) struct Bins {
    /// Touched tiles, ascending, and the end of each tile's triangles, which start at the end of
    /// the tile before.
    tiles: Vec<(u32, u32)>,
    /// Numbers of triangles, ascending for each tile.
    triangles: Vec<u16>,
    /// Groups of triangles that are hidden in some groups of a tile, in order.
    partial: Vec<VisibleGroups>,
}

/// Groups of a tile that may show a triangle, which others hide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct VisibleGroups {
    /// Number of the tile in its layer.
    tile: u32,
    /// Number of the triangle.
    pub triangle: u16,
    /// The groups, as bits.
    pub groups: u64,
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
#[derive(Debug, Default)]
pub(super) struct Touched {
    pairs: Vec<(u32, u16)>,
    /// Number of triangles of each tile; empty if they are not counted.
    counts: Vec<u32>,
    partial: Vec<VisibleGroups>,
}

impl Touched {
    /// Returns an empty list for a number of triangles in the tiles of a grid.
    pub(super) fn new(triangles: usize, grid: &Grid) -> Self {
        // The time of counting grows with the tiles, that of comparing with the triangles.
        let counts = if triangles * 8 >= grid.count() { vec![0; grid.count()] } else { Vec::new() };
        Self { pairs: Vec::with_capacity(triangles), counts, partial: Vec::new() }
    }

    #[inline(always)]
    fn push(&mut self, tile: u32, triangle: u16) {
        self.pairs.push((tile, triangle));
        if let Some(count) = self.counts.get_mut(tile as usize) {
            *count += 1;
        }
    }

    /// Adds each tile of a grid that a triangle of a range touches and that has any pixel of
    /// `clip`, except where the triangle is known to be hidden.
    pub(super) fn add_run(
        &mut self,
        TriangleRun { triangles, range }: TriangleRun<'_>,
        (grid, clip): (&Grid, [i64; 4]),
        early_hiz: Option<EarlyHizTest<'_>>,
        tests: &mut WindowTests,
    ) {
        let tiles = &DrawTiles { grid, tiles: grid.tiles_within(clip) };
        let Some(test) = &early_hiz.filter(|test| test.may_hide_any(triangles) && !tests.skip(range.len() as u32))
        else {
            return range.for_each(|index| self.add((triangles, index), tiles, None, tests));
        };
        let clip = within(clip, grid.area());
        for start in range.clone().step_by(WAVE) {
            let range = &(start..range.end.min(start + WAVE as u32));
            let visible = test.visible_lanes(TriangleBlock { triangles, range, grid, clip }, tests);
            let (mut lanes, test) = (visible.unwrap_or((1 << range.len()) - 1), visible.map(|_| test));
            while lanes != 0 {
                self.add((triangles, start + lanes.trailing_zeros()), tiles, test, tests);
                lanes &= lanes - 1;
            }
        }
    }

    /// Adds the tiles that a triangle touches.
    #[inline(always)]
    fn add(
        &mut self,
        (triangles, index): (&Triangles, u32),
        DrawTiles { grid, tiles }: &DrawTiles<'_>,
        test: Option<&EarlyHizTest<'_>>,
        tests: &mut WindowTests,
    ) {
        // Most triangles lie in one tile. Their test is that of their block.
        if let Some(tile) = grid.only_tile(triangles.pixels(index), tiles) {
            return self.push(tile, index as u16);
        }
        let first = triangles.layer() as usize * grid.count();
        let candidate = test.and_then(|test| Some((test, test.candidate(triangles, index)?)));
        let mut count = 0;
        let pixels = triangles.pixels(index).map(i64::from);
        let coverage = || (triangles.triangle(index), triangles.outer_criterion());
        let evaluated = grid.touched_by(pixels, tiles, coverage, |tile| {
            count += 1;
            let visible = |(test, candidate): &(&EarlyHizTest<'_>, Candidate<'_>)| {
                test.visible_groups((first + tile, grid.pixels(tile)), candidate, tests)
            };
            let (groups, tile, triangle) = (candidate.as_ref().map_or(u64::MAX, visible), tile as u32, index as u16);
            if groups != 0 {
                self.push(tile, triangle);
            }
            if groups != 0 && groups != u64::MAX {
                self.partial.push(VisibleGroups { tile, triangle, groups });
            }
        });
        if evaluated > 0 {
            let counts = &mut tests.counts;
            (counts.evaluated, counts.touched) = (counts.evaluated + evaluated, counts.touched + count);
        }
    }
}

impl Bins {
    /// Sorts pairs by tiles.
    pub(super) fn new(Touched { pairs, counts, mut partial }: Touched) -> Self {
        partial.sort_unstable();
        let bins = if counts.is_empty() { Self::sorted(pairs) } else { Self::counted(&pairs, counts) };
        Self { partial, ..bins }
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
        let triangles = pairs.into_iter().map(|(_, triangle)| triangle).collect();
        Self { tiles, triangles, partial: Vec::new() }
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
        Self { tiles, triangles, partial: Vec::new() }
    }

    /// Returns the numbers of the triangles of a part.
    pub(super) fn of(&self, part: WindowPart) -> &[u16] {
        &self.triangles[part.start as usize..part.end as usize]
    }

    /// Returns the visible groups of the triangles that are hidden in some groups of a tile.
    pub(super) fn partial_in(&self, tile: usize) -> &[VisibleGroups] {
        let start = self.partial.partition_point(|partial| (partial.tile as usize) < tile);
        let count = self.partial[start..].partition_point(|partial| partial.tile as usize == tile);
        &self.partial[start..start + count]
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
