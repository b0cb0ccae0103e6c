//! Bounds of depths in front of the tiler. They hold after all earlier draws, also after those that
//! are queued for the next tile pass.
//!
//! The bounds begin with those of the image's structure. Primitives of queued draws update them,
//! as far as the credit of the tests allows. A queued draw after which depths may recede makes
//! them unusable until the next tile pass. Depths are kept as nearness: smaller values are nearer,
//! in either direction of the comparison. Source: DESIGN 3.2, "a visibility shader
//! sits between the last vertex stage and the tiler".

use vitric_base::simd::kernel;

use super::{DepthDirection, DepthRange, GROUPS, GROUPS_LOG2, GroupCoverage, KnownTile, Layer};
use crate::raster::GROUP_LOG2;

/// Rectangle of groups of a tile: first column and row, last column and row.
#[derive(Debug, Clone, Copy)]
pub struct GroupRect([usize; 4]);

impl GroupRect {
    /// Returns the groups that pixels of one tile touch: `[x0, y0, x1, y1]` with exclusive ends,
    /// not empty.
    #[inline]
    pub fn of([x0, y0, x1, y1]: [i64; 4]) -> Self {
        Self([x0, y0, x1 - 1, y1 - 1].map(|pixel| (pixel >> GROUP_LOG2) as usize & ((1 << GROUPS_LOG2) - 1)))
    }

    /// Returns the groups as bits, by their numbers.
    #[inline]
    pub fn mask(self) -> u64 {
        let [left, top, right, bottom] = self.0;
        let (columns, rows) = (0xff >> (7 + left - right) << left, u64::MAX >> (8 * (7 + top - bottom)) << (8 * top));
        (columns * 0x0101_0101_0101_0101) & rows
    }

    /// Returns the numbers of the groups, row by row.
    #[inline]
    fn numbers(self) -> impl Iterator<Item = usize> {
        let [left, top, right, bottom] = self.0;
        (top..=bottom).flat_map(move |row| (left..=right).map(move |column| row << GROUPS_LOG2 | column))
    }
}

/// Bounds of a tile: the nearness of the farthest pixel of the tile, and of each group.
#[derive(Debug, Clone)]
struct TileBounds {
    all: f32,
    groups: [f32; GROUPS],
    /// The smallest of these bounds.
    nearest: f32,
}

impl TileBounds {
    /// Returns the bounds of a tile in which no pixel is farther than a nearness.
    fn uniform(far: f32) -> Self {
        Self { all: far, groups: [far; GROUPS], nearest: far }
    }

    fn of(known: Option<KnownTile<'_>>, direction: DepthDirection) -> Self {
        let far = |range: &DepthRange| direction.nearness(direction.far(*range));
        match known {
            None => Self::uniform(f32::INFINITY),
            Some(KnownTile::Reset(range)) => Self::uniform(far(&range)),
            Some(KnownTile::Used(bounds)) => {
                let groups = bounds.groups.each_ref().map(far);
                let nearest = groups.iter().fold(f32::INFINITY, |nearest, &far| nearest.min(far));
                Self { all: far(&bounds.all), groups, nearest }
            }
        }
    }
}

#[inline(always)]
fn no_farther_groups(bounds: &[f32; GROUPS], nearness: f32) -> u64 {
    let mut bits = 0;
    for (group, &bound) in bounds.iter().enumerate() {
        bits |= u64::from(nearness <= bound) << group;
    }
    bits
}

kernel!(
    /// Returns a bit for each group whose bound is no nearer than a depth.
    no_farther, no_farther_groups, (bounds: &[f32; GROUPS], nearness: f32) -> u64
);

#[inline(always)]
fn nearer_groups(bounds: &[f32; GROUPS], all: f32, nearness: &[f32; GROUPS]) -> u64 {
    let mut bits = 0;
    for (group, (&bound, &nearness)) in bounds.iter().zip(nearness).enumerate() {
        bits |= u64::from(nearness < bound && nearness < all) << group;
    }
    bits
}

kernel!(
    /// Returns a bit for each group whose nearness is nearer than its bound and than a bound of all
    /// groups.
    nearer_than, nearer_groups, (bounds: &[f32; GROUPS], all: f32, nearness: &[f32; GROUPS]) -> u64
);

/// Bounds of the depths of all tiles of a pass.
#[derive(Debug, Clone, Default)]
pub struct EarlyBounds {
    direction: Option<DepthDirection>,
    tiles: Vec<TileBounds>,
    /// Second layers of all groups, as nearness, made at the first partial update.
    layers: Vec<Layer>,
    nearest: f32,
}

impl EarlyBounds {
    /// Begins with what is known of tiles, for draws that compare in a direction.
    pub fn begin<'t>(&mut self, direction: DepthDirection, tiles: impl Iterator<Item = Option<KnownTile<'t>>>) {
        self.direction = Some(direction);
        self.layers.clear();
        self.tiles.clear();
        self.tiles.extend(tiles.map(|known| TileBounds::of(known, direction)));
        self.nearest = self.tiles.iter().fold(f32::INFINITY, |nearest, tile| nearest.min(tile.nearest));
    }

    /// Tightens the bounds by those of the tiles, which hold at the same time.
    pub fn tighten<'t>(&mut self, tiles: impl Iterator<Item = Option<KnownTile<'t>>>) {
        let Some(direction) = self.direction else { return };
        for (bounds, known) in self.tiles.iter_mut().zip(tiles) {
            let now = TileBounds::of(known, direction);
            bounds.all = bounds.all.min(now.all);
            bounds.groups.iter_mut().zip(now.groups).for_each(|(bound, now)| *bound = bound.min(now));
            bounds.nearest = bounds.nearest.min(now.nearest);
            self.nearest = self.nearest.min(now.nearest);
        }
    }

    /// Returns the direction of the bounds, or `None` if there are none.
    pub fn direction(&self) -> Option<DepthDirection> {
        self.direction
    }

    /// Returns true if a depth of a nearness may be hidden somewhere.
    #[inline]
    pub fn may_hide(&self, nearness: f32) -> bool {
        nearness > self.nearest
    }

    /// Returns true if a depth of a nearness may be hidden in a tile.
    #[inline]
    pub fn may_hide_in(&self, tile: usize, nearness: f32) -> bool {
        nearness > self.tiles[tile].nearest
    }

    /// Returns true if all groups of a rectangle in a tile hide depths of a nearness and farther
    /// ones.
    #[inline]
    pub fn hides(&self, tile: usize, groups: GroupRect, nearness: f32) -> bool {
        let tile = &self.tiles[tile];
        nearness > tile.all || nearness > tile.nearest && groups.numbers().all(|group| nearness > tile.groups[group])
    }

    /// Returns a bit for each group of a tile that does not hide a depth of a nearness.
    #[inline]
    pub fn visible_groups(&self, tile: usize, nearness: f32) -> u64 {
        let tile = &self.tiles[tile];
        if nearness > tile.all { 0 } else { no_farther(&tile.groups, nearness) }
    }

    /// Returns the nearest bound of a tile. No part of the tile hides depths up to this nearness.
    #[inline]
    pub fn nearest(&self, tile: usize) -> f32 {
        self.tiles[tile].nearest
    }

    /// Returns the bound of a group of a tile. The group hides depths that are farther.
    #[inline]
    pub fn bound(&self, tile: usize, group: usize) -> f32 {
        let tile = &self.tiles[tile];
        tile.groups[group].min(tile.all)
    }

    /// Notes that no pixel of a tile is farther than a nearness.
    pub fn update_tile(&mut self, tile: usize, nearness: f32) {
        let known = &mut self.tiles[tile];
        known.all = known.all.min(nearness);
        known.nearest = known.nearest.min(nearness);
        self.nearest = self.nearest.min(nearness);
    }

    /// Notes that no pixel of some groups of a tile, given as bits, is farther than its group's
    /// nearness.
    pub fn update_groups(&mut self, tile: usize, mut groups: u64, nearness: &[f32; GROUPS]) {
        while groups != 0 {
            let group = groups.trailing_zeros() as usize;
            groups &= groups - 1;
            self.update_group_bound(tile, group, nearness[group]);
        }
    }

    fn update_group_bound(&mut self, tile: usize, group: usize, nearness: f32) {
        let known = &mut self.tiles[tile];
        let far = &mut known.groups[group];
        *far = far.min(nearness);
        known.nearest = known.nearest.min(nearness);
        self.nearest = self.nearest.min(nearness);
    }

    /// Returns a bit for each group of a tile whose bound an update by its nearness tightens.
    #[inline]
    pub fn gaining_groups(&self, tile: usize, nearness: &[f32; GROUPS]) -> u64 {
        let known = &self.tiles[tile];
        nearer_than(&known.groups, known.all, nearness)
    }

    /// Notes that no pixel of `written` in a tile is farther than a nearness. `written` also has
    /// all pixels outside of the image.
    pub fn update_part(&mut self, tile: usize, written: GroupCoverage, nearness: f32) {
        if self.layers.is_empty() {
            self.layers.resize(self.tiles.len() * GROUPS, Layer::default());
        }
        let (known, GroupCoverage { group, pixels }) = (&self.tiles[tile], written);
        let all = known.groups[group].min(known.all);
        // Nearness compares as depths do where smaller ones pass.
        if let Some(far) = self.layers[tile * GROUPS + group].add(DepthDirection::Less, (pixels, nearness), all) {
            self.update_group_bound(tile, group, far);
        }
    }
}

/// Returns the first pixels of the groups that a rectangle of pixels touches, which must not be
/// empty.
#[inline]
pub fn groups_of(window: [i64; 4]) -> impl Iterator<Item = [i64; 2]> {
    let side = 1 << GROUP_LOG2;
    let start = move |value: i64| value & !(side - 1);
    let [left, top] = [start(window[0]), start(window[1])];
    let mut next = [left, top];
    std::iter::from_fn(move || {
        let group = next;
        next[0] += side;
        if next[0] >= window[2] {
            next = [left, next[1] + side];
        }
        (group[1] < window[3]).then_some(group)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hiz::{Hierarchy, Hiz, group_number};

    #[test]
    fn it_goes_on_from_the_pyramid() {
        for (direction, depths) in [(DepthDirection::Less, [0.3, 0.5, 0.7]), (DepthDirection::Greater, [0.7, 0.5, 0.3])]
        {
            let [near, middle, far] = depths.map(|depth| direction.nearness(depth));
            let hierarchy = Hierarchy::new([128, 64], Hiz::Always);
            let mut early = EarlyBounds::default();
            let begin = |early: &mut EarlyBounds| {
                early.begin(direction, [[0, 0], [64, 0], [128, 0]].into_iter().map(|pixel| hierarchy.known(pixel)));
            };
            begin(&mut early);
            assert!(early.direction() == Some(direction) && !early.may_hide(far));
            hierarchy.clear([0, 0, 64, 64], depths[1]);
            begin(&mut early);
            let (all, corner) = ([0, 0, 64, 64], [56, 56, 64, 64]);
            assert!(early.may_hide(far) && !early.may_hide(middle));
            let hides =
                |early: &EarlyBounds, tile, pixels, nearness| early.hides(tile, GroupRect::of(pixels), nearness);
            assert!(hides(&early, 0, all, far) && !hides(&early, 1, [64, 0, 72, 8], far));
            assert!(!hides(&early, 2, all, far));
            early.update_groups(0, 1 << group_number([56, 56]), &[near; GROUPS]);
            assert!(hides(&early, 0, corner, middle) && !hides(&early, 0, [55, 56, 64, 64], middle));
            assert!(early.may_hide_in(0, middle) && !early.may_hide_in(1, middle));
            early.update_tile(1, near);
            early.update_tile(1, far);
            assert!(hides(&early, 1, [64, 0, 128, 64], middle) && !hides(&early, 1, [64, 0, 128, 64], near));
            let part = |pixels: u64| GroupCoverage { group: group_number([8, 8]), pixels };
            early.update_part(0, part(u64::MAX >> 9), near);
            assert!(!hides(&early, 0, [8, 8, 16, 16], middle), "nine pixels are as far as they were");
            early.update_part(0, part(u64::MAX << 50), near);
            assert!(hides(&early, 0, [8, 8, 16, 16], middle) && !hides(&early, 0, [8, 8, 17, 16], middle));
        }
    }

    #[test]
    fn bounds_are_tightened_by_tiles() {
        let (hierarchy, direction) = (Hierarchy::new([128, 64], Hiz::Always), DepthDirection::Less);
        let known = || [[0, 0], [64, 0]].into_iter().map(|pixel| hierarchy.known(pixel));
        hierarchy.clear([0, 0, 128, 64], 0.9);
        let mut early = EarlyBounds::default();
        early.begin(direction, known());
        hierarchy.tile([64, 0]).unwrap().loosen(direction, 5, DepthRange::of(0.1));
        assert_eq!(hierarchy.gains(), 0);
        hierarchy.tile([64, 0]).unwrap().update(direction, 3, DepthRange::of(0.5));
        assert_eq!(hierarchy.gains(), 1);
        early.update_groups(1, 1 << 4, &[0.2; GROUPS]);
        early.tighten(known());
        assert_eq!([3, 4, 5].map(|group| early.bound(1, group)), [0.5, 0.2, 0.9]);
        assert_eq!([early.bound(0, 3), early.nearest(0), early.nearest(1)], [0.9, 0.9, 0.2]);
    }

    #[test]
    fn windows_touch_their_groups() {
        let groups: Vec<[i64; 2]> = groups_of([7, 8, 17, 9]).collect();
        assert_eq!(groups, [[0, 8], [8, 8], [16, 8]]);
    }
}
