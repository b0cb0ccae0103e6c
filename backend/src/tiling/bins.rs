//! Bins: which triangles of which window touch a tile. Only tiles that are touched are written down, so that a small draw costs what it
//! touches, whatever the render area has of tiles.

use super::ahead::{Ahead, Suspect, Tests};
use super::{Grid, Window};
use crate::geometry::Triangles;

/// The triangles of a window that touch tiles.
#[derive(Debug)]
pub(super) struct Bins {
    /// Tiles that are touched, ascending, and where the triangles of each end; they start where those of the one before end.
    tiles: Vec<(u32, u32)>,
    /// Numbers of triangles, ascending for each tile.
    triangles: Vec<u16>,
}

impl Bins {
    /// Sorts triangles into the tiles of a layer, but for those that are known to be hidden there.
    pub(super) fn new(triangles: &Triangles, grid: &Grid, ahead: (Option<Ahead<'_>>, &mut Tests)) -> Self {
        let mut pairs: Vec<(u32, u16)> = Vec::with_capacity(triangles.len());
        // Counting takes as long as there are tiles, comparing as there are triangles.
        if triangles.len() * 8 < grid.count() {
            Self::visit(triangles, grid, ahead, |tile, triangle| pairs.push((tile, triangle)));
            return Self::sorted(pairs);
        }
        let mut counts = vec![0u32; grid.count()];
        Self::visit(triangles, grid, ahead, |tile, triangle| {
            pairs.push((tile, triangle));
            counts[tile as usize] += 1;
        });
        Self::counted(&pairs, counts)
    }

    /// Calls `touches` with each tile that a triangle touches, and the triangle.
    #[inline]
    fn visit(
        triangles: &Triangles,
        grid: &Grid,
        (ahead, tests): (Option<Ahead<'_>>, &mut Tests),
        mut touches: impl FnMut(u32, u16),
    ) {
        let first = triangles.layer() as usize * grid.count();
        for index in 0..triangles.len() as u32 {
            // Most lie in one tile, and these are too small to be tested ahead.
            if let Some(tile) = grid.only_tile(triangles.pixels(index)) {
                touches(tile, index as u16);
                continue;
            }
            let suspect = ahead.and_then(|ahead| Some((ahead, ahead.suspect(triangles, index, *tests)?)));
            let mut touched = 0;
            let evaluated = grid.touched(triangles, index, |tile| {
                touched += 1;
                let hides = |(ahead, suspect): &(Ahead<'_>, Suspect)| {
                    ahead.hides(first + tile, grid.pixels(tile), suspect, tests)
                };
                if !suspect.as_ref().is_some_and(hides) {
                    touches(tile as u32, index as u16);
                }
            });
            if evaluated > 0 {
                (tests.evaluated, tests.touched) = (tests.evaluated + evaluated, tests.touched + touched);
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

    /// Of which each tile has so many.
    fn counted(pairs: &[(u32, u16)], mut counts: Vec<u32>) -> Self {
        let mut sum = 0;
        for count in &mut counts {
            // From now on where the tile's triangles start, and later where they end.
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

    /// The triangles of a part.
    pub(super) fn of(&self, part: Part) -> &[u16] {
        &self.triangles[part.start as usize..part.end as usize]
    }

    /// The triangles that touch a tile.
    #[cfg(test)]
    pub(super) fn in_tile(&self, tile: usize) -> &[u16] {
        let part = self.tiles().find(|&(touched, ..)| touched as usize == tile);
        part.map_or(&[], |(_, start, end)| &self.triangles[start as usize..end as usize])
    }

    /// Tiles that are touched, and where their triangles start and end.
    fn tiles(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        let mut start = 0;
        self.tiles.iter().map(move |&(tile, end)| (tile, std::mem::replace(&mut start, end), end))
    }
}

/// The triangles of a window that touch a tile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Part {
    /// Number of the window.
    pub window: u32,
    start: u32,
    end: u32,
}

/// For each tile of all layers what of windows touches it.
#[derive(Debug)]
pub struct TileParts {
    /// Where the parts of each tile end; they start where those of the one before end.
    ends: Vec<u32>,
    parts: Vec<Part>,
}

impl TileParts {
    /// Of windows that were sorted into the tiles of a grid.
    pub fn new(windows: &[Window], grid: &Grid) -> Self {
        let mut ends = vec![0u32; grid.count_all()];
        // Layers beyond those of the pass are not drawn to.
        let drawn = || (0..).zip(windows).filter(|(_, window)| (window.layer() as usize) < grid.layers);
        let in_all = |window: &Window, tile: u32| window.layer() as usize * grid.count() + tile as usize;
        for (_, window) in drawn() {
            window.bins.tiles().for_each(|(tile, ..)| ends[in_all(window, tile)] += 1);
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut parts = vec![Part::default(); sum as usize];
        for (number, window) in drawn() {
            for (tile, start, end) in window.bins.tiles() {
                let place = &mut ends[in_all(window, tile)];
                parts[*place as usize] = Part { window: number, start, end };
                *place += 1;
            }
        }
        Self { ends, parts }
    }

    /// The parts of a tile, in order.
    pub(super) fn of(&self, tile: usize) -> &[Part] {
        let start = if tile == 0 { 0 } else { self.ends[tile - 1] };
        &self.parts[start as usize..self.ends[tile] as usize]
    }
}

impl TileParts {
    /// How many triangles touch a tile.
    pub(super) fn count(&self, tile: usize) -> usize {
        self.of(tile).iter().map(|part| part.len()).sum()
    }
}

impl Part {
    /// How many triangles it has.
    pub(super) fn len(self) -> usize {
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
            for (tile, start, end) in sorted.tiles() {
                let expected: Vec<_> = pairs.iter().filter(|pair| pair.0 == tile).map(|pair| pair.1).collect();
                prop_assert_eq!(sorted.of(Part { window: 0, start, end }), expected);
            }
        }
    }
}
