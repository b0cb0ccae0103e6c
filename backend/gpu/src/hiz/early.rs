//! What is known of depths where draws are recorded, ahead of the tiler: after all draws that came before, walked or not.
//!
//! It begins with what walks have left in the pyramids, and is updated forward by the primitives that wait, in their order. So it
//! cannot say anything that a draw in between may change, and is dropped where one may. Depths are kept as nearness: the smaller, the
//! nearer, in either direction of the comparison. Source: DESIGN 3.2, "a visibility shader sits between the last vertex stage and the tiler".

use super::{Bounds, Direction, GROUPS, Layer, Range, group_number};
use crate::raster::GROUP_LOG2;

/// A tile: no pixel of it is farther than this, and no pixel of a group than that.
#[derive(Debug, Clone)]
struct Tile {
    all: f32,
    groups: [f32; GROUPS],
    /// The nearest of all these.
    nearest: f32,
}

impl Tile {
    const UNKNOWN: Self = Self { all: f32::INFINITY, groups: [f32::INFINITY; GROUPS], nearest: f32::INFINITY };

    fn of(bounds: &Bounds, direction: Direction) -> Self {
        let far = |range: &Range| direction.nearness(direction.far(*range));
        let groups = bounds.groups.each_ref().map(far);
        let nearest = groups.iter().fold(f32::INFINITY, |nearest, &far| nearest.min(far));
        Self { all: far(&bounds.all), groups, nearest }
    }
}

/// Bounds of the depths of all tiles of a pass.
#[derive(Debug, Clone, Default)]
pub struct Early {
    direction: Option<Direction>,
    tiles: Vec<Tile>,
    /// Second layers of all groups, of nearness, once a part of any was updated.
    layers: Vec<Layer>,
    nearest: f32,
}

impl Early {
    /// Begins with the bounds of tiles, for draws that compare in a direction.
    pub fn begin<'b, B: std::ops::Deref<Target = Bounds> + 'b>(
        &mut self,
        direction: Direction,
        tiles: impl Iterator<Item = Option<B>>,
    ) {
        self.direction = Some(direction);
        self.layers.clear();
        self.tiles.clear();
        self.tiles.extend(tiles.map(|bounds| bounds.map_or(Tile::UNKNOWN, |bounds| Tile::of(&bounds, direction))));
        self.nearest = self.tiles.iter().fold(f32::INFINITY, |nearest, tile| nearest.min(tile.nearest));
    }

    /// Knows nothing any more.
    pub fn forget(&mut self) {
        self.direction = None;
    }

    /// The direction that it is for, when it knows anything.
    pub fn direction(&self) -> Option<Direction> {
        self.direction
    }

    /// Whether anything behind such a depth may be hidden somewhere.
    #[inline]
    pub fn may_hide(&self, nearness: f32) -> bool {
        nearness > self.nearest
    }

    /// Whether anything behind such a depth may be hidden in a tile.
    #[inline]
    pub fn may_hide_in(&self, tile: usize, nearness: f32) -> bool {
        nearness > self.tiles[tile].nearest
    }

    /// Whether a tile hides what is no nearer than this in the pixels `[x0, y0, x1, y1]`, which it has.
    pub fn hides(&self, tile: usize, pixels: [i64; 4], nearness: f32) -> bool {
        let tile = &self.tiles[tile];
        nearness > tile.all || groups_of(pixels).all(|group| nearness > tile.groups[group_number(group)])
    }

    /// No pixel of a tile is farther than this.
    pub fn update_tile(&mut self, tile: usize, nearness: f32) {
        let known = &mut self.tiles[tile];
        known.all = known.all.min(nearness);
        known.nearest = known.nearest.min(nearness);
        self.nearest = self.nearest.min(nearness);
    }

    /// No pixel of a group of a tile is farther than this.
    pub fn update_group(&mut self, tile: usize, group: [i64; 2], nearness: f32) {
        let known = &mut self.tiles[tile];
        let far = &mut known.groups[group_number(group)];
        *far = far.min(nearness);
        known.nearest = known.nearest.min(nearness);
        self.nearest = self.nearest.min(nearness);
    }

    /// Pixels of a group of a tile, those in `mask`, which also names all that lie outside of the image, are no farther than this.
    pub fn update_part(&mut self, tile: usize, group: [i64; 2], (mask, nearness): (u64, f32)) {
        if self.layers.is_empty() {
            self.layers.resize(self.tiles.len() * GROUPS, Layer::default());
        }
        let (known, number) = (&self.tiles[tile], group_number(group));
        let all = known.groups[number].min(known.all);
        // The smaller, the nearer: that is how the layer compares where smaller depths pass.
        if let Some(far) = self.layers[tile * GROUPS + number].add(Direction::Less, (mask, nearness), all) {
            self.update_group(tile, group, far);
        }
    }
}

/// First pixels of the groups that a window of pixels touches, which has some.
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
    use crate::hiz::{Hierarchy, Hiz};

    #[test]
    fn it_goes_on_from_the_pyramid() {
        for (direction, depths) in [(Direction::Less, [0.3, 0.5, 0.7]), (Direction::Greater, [0.7, 0.5, 0.3])] {
            let [near, middle, far] = depths.map(|depth| direction.nearness(depth));
            let hierarchy = Hierarchy::new([128, 64], Hiz::Always);
            let mut early = Early::default();
            let begin = |early: &mut Early| {
                early.begin(direction, [[0, 0], [64, 0], [128, 0]].into_iter().map(|pixel| hierarchy.tile(pixel)));
            };
            begin(&mut early);
            assert!(early.direction() == Some(direction) && !early.may_hide(far));
            hierarchy.clear([0, 0, 64, 64], depths[1]);
            begin(&mut early);
            let (all, corner) = ([0, 0, 64, 64], [56, 56, 64, 64]);
            assert!(early.may_hide(far) && !early.may_hide(middle));
            assert!(early.hides(0, all, far) && !early.hides(1, [64, 0, 72, 8], far) && !early.hides(2, all, far));
            early.update_group(0, [56, 56], near);
            assert!(early.hides(0, corner, middle) && !early.hides(0, [55, 56, 64, 64], middle));
            assert!(early.may_hide_in(0, middle) && !early.may_hide_in(1, middle));
            early.update_tile(1, near);
            early.update_tile(1, far);
            assert!(early.hides(1, [64, 0, 128, 64], middle) && !early.hides(1, [64, 0, 128, 64], near));
            early.update_part(0, [8, 8], (u64::MAX >> 9, near));
            assert!(!early.hides(0, [8, 8, 16, 16], middle), "nine pixels are as far as they were");
            early.update_part(0, [8, 8], (u64::MAX << 50, near));
            assert!(early.hides(0, [8, 8, 16, 16], middle) && !early.hides(0, [8, 8, 17, 16], middle));
            early.forget();
            assert_eq!(early.direction(), None);
        }
    }

    #[test]
    fn windows_touch_their_groups() {
        let groups: Vec<[i64; 2]> = groups_of([7, 8, 17, 9]).collect();
        assert_eq!(groups, [[0, 8], [8, 8], [16, 8]]);
    }
}
