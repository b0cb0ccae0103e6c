//! The hierarchical visibility structure: bounds of the depths in each 8x8 group and each tile of a depth attachment.
//!
//! It is queried where a tile's primitives come from the tiler, and in the rasterizer; it is updated only there, from the
//! bounds of primitives that are certain to write depth, never from pixels (forward update). Before a segment of a tile is
//! rasterized, all its primitives teach the structure, so that a later one may drop an earlier one that it hides. A segment's
//! primitives are all opaque in the same attachments, compare and write depth in one direction, and have no other effect.
//! Source: DESIGN 3.2.
//!
//! A group has two layers: bounds of all its pixels, and a nearer bound of those that a mask names. What covers pixels in part is added to
//! the mask; when it names all, the layer becomes the group's bound. So many small occluders count like one large one. Source: Hasselgren,
//! Andersson and Akenine-Moeller, "Masked Software Occlusion Culling".
//!
//! Bounds are of depths as the attachment holds them: fixed-point formats round. Depths are computed as everywhere, and each
//! operation keeps the order of its operands, so the extremes over a rectangle of pixels are those at its corners.

use ash::vk;
use parking_lot::{Mutex, MutexGuard};

use crate::format::{decode_depth, encode_depth};
use crate::geometry::Shape;
use crate::raster::{GROUP_LOG2, TILE_LOG2};

/// Groups along a tile's side, as a power of two.
const GROUPS_LOG2: u32 = TILE_LOG2 - GROUP_LOG2;

/// Groups of a tile.
pub const GROUPS: usize = 1 << (2 * GROUPS_LOG2);

/// Least and greatest depth.
pub type Range = [f32; 2];

/// Any depth.
const UNKNOWN: Range = [f32::NEG_INFINITY, f32::INFINITY];

/// Which depths pass against what is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Smaller ones.
    Less,
    /// Greater ones.
    Greater,
}

impl Direction {
    /// Of a comparison; `None` for those that go both ways.
    pub fn of(op: vk::CompareOp) -> Option<Self> {
        match op {
            vk::CompareOp::LESS | vk::CompareOp::LESS_OR_EQUAL => Some(Self::Less),
            vk::CompareOp::GREATER | vk::CompareOp::GREATER_OR_EQUAL => Some(Self::Greater),
            _ => None,
        }
    }

    /// Whether everything in `range` lies behind everything in `stored`.
    #[inline]
    fn hides(self, stored: Range, range: Range) -> bool {
        match self {
            Self::Less => range[0] > stored[1],
            Self::Greater => range[1] < stored[0],
        }
    }

    /// A depth where smaller ones pass, whatever the direction: the smaller, the nearer.
    fn nearness(self, depth: f32) -> f32 {
        match self {
            Self::Less => depth,
            Self::Greater => -depth,
        }
    }

    /// The farthest of a range.
    fn far(self, range: Range) -> f32 {
        match self {
            Self::Less => range[1],
            Self::Greater => range[0],
        }
    }

    /// What is stored where everything in `range` was tested and written.
    fn tightened(self, stored: Range, range: Range) -> Range {
        match self {
            Self::Less => [stored[0].min(range[0]), stored[1].min(range[1])],
            Self::Greater => [stored[0].max(range[0]), stored[1].max(range[1])],
        }
    }
}

/// What a draw does with the structure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Visibility {
    /// Its fragments may be dropped where they are hidden in this direction.
    pub tests: Option<Direction>,
    /// Its primitives write depth wherever they cover and pass.
    pub teaches: bool,
    /// What it teaches may drop what came before it in the segment.
    pub looks_ahead: bool,
    /// It writes depth, in any way.
    pub writes: Option<vk::CompareOp>,
}

/// What is known of a group's depths.
#[derive(Debug, Clone, Copy)]
struct Group {
    /// Of all pixels.
    range: Range,
    /// Pixels that are no farther than the layer, as the bits of coverage name them.
    mask: u64,
    layer: f32,
    /// Whether greater depths are nearer.
    greater: bool,
}

impl Group {
    fn new(range: Range) -> Self {
        Self { range, mask: 0, layer: 0.0, greater: false }
    }

    /// Drops the layer unless it is of a direction.
    fn turn(&mut self, direction: Direction) {
        let greater = direction == Direction::Greater;
        if self.greater != greater {
            (self.mask, self.greater) = (0, greater);
        }
    }

    /// Pixels of `mask` were tested and written with depths no farther than `far`.
    fn add(&mut self, direction: Direction, mask: u64, far: f32) {
        let near = |depth: f32| direction.nearness(depth);
        let all = near(direction.far(self.range));
        if !(near(far) < all) {
            return;
        }
        // What is nearer to the group's bound than to the layer is worth less than what comes.
        let starts = self.mask == 0 || near(self.layer) - near(far) > all - near(self.layer);
        if starts {
            (self.mask, self.layer) = (mask, far);
        } else {
            self.mask |= mask;
            self.layer = if near(far) > near(self.layer) { far } else { self.layer };
        }
        if self.mask == u64::MAX {
            self.range = direction.tightened(self.range, [self.layer; 2]);
            self.mask = 0;
        }
    }
}

/// Bounds of a tile's depths.
#[derive(Debug, Clone)]
pub struct Bounds {
    groups: [Group; GROUPS],
    all: Range,
}

impl Bounds {
    fn new(range: Range) -> Self {
        Self { groups: [Group::new(range); GROUPS], all: range }
    }

    /// Whether the whole tile hides `range`.
    #[inline]
    pub fn hides_in_tile(&self, direction: Direction, range: Range) -> bool {
        direction.hides(self.all, range)
    }

    /// Whether a group hides `range`.
    #[inline]
    pub fn hides_in_group(&self, direction: Direction, group: usize, range: Range) -> bool {
        direction.hides(self.groups[group].range, range)
    }

    /// Whether these pixels of a group, those that are covered, hide `range`.
    #[inline]
    pub fn hides_pixels(&self, direction: Direction, (group, pixels): (usize, u64), range: Range) -> bool {
        let Group { mask, layer, greater, .. } = self.groups[group];
        greater == (direction == Direction::Greater) && pixels & !mask == 0 && direction.hides([layer; 2], range)
    }

    /// All pixels of a group that lie in the render area were tested and written with depths in `range`.
    pub fn teach(&mut self, direction: Direction, group: usize, range: Range) {
        let group = &mut self.groups[group];
        group.turn(direction);
        group.range = direction.tightened(group.range, range);
    }

    /// Pixels of a group were tested and written with depths in `range`: those in `mask`, which also names all that lie outside of the
    /// render area.
    pub fn teach_part(&mut self, direction: Direction, (group, mask): (usize, u64), range: Range) {
        self.loosen(direction, group, range);
        self.groups[group].add(direction, mask, direction.far(range));
    }

    /// Some pixels of a group were tested and written with depths in `range`.
    pub fn loosen(&mut self, direction: Direction, group: usize, range: Range) {
        let group = &mut self.groups[group];
        group.turn(direction);
        let [low, high] = group.range;
        group.range = match direction {
            Direction::Less => [low.min(range[0]), high],
            Direction::Greater => [low, high.max(range[1])],
        };
    }

    /// All pixels of the tile were tested and written with depths in `range`.
    pub fn teach_all(&mut self, direction: Direction, range: Range) {
        for group in &mut self.groups {
            group.turn(direction);
            group.range = direction.tightened(group.range, range);
        }
    }

    /// A draw writes depths that teach nothing: what they may change is not known any more.
    pub fn forget(&mut self, op: vk::CompareOp) {
        let (lowers, raises) = match (op, Direction::of(op)) {
            (vk::CompareOp::NEVER | vk::CompareOp::EQUAL, _) => (false, false),
            (_, Some(Direction::Less)) => (true, false),
            (_, Some(Direction::Greater)) => (false, true),
            _ => (true, true),
        };
        let loosened =
            |range: Range| [if lowers { UNKNOWN[0] } else { range[0] }, if raises { UNKNOWN[1] } else { range[1] }];
        for group in &mut self.groups {
            group.range = loosened(group.range);
            if if group.greater { lowers } else { raises } {
                group.mask = 0;
            }
        }
        self.all = loosened(self.all);
    }

    /// Sums the groups up, which were taught.
    pub fn sum_up(&mut self) {
        let [first, ..] = self.groups;
        let ranges = self.groups.iter().map(|group| group.range);
        self.all = ranges.fold(first.range, |all, range| [all[0].min(range[0]), all[1].max(range[1])]);
    }
}

/// Number of a group in its tile, by its first pixel.
#[inline]
pub fn group_number([x, y]: [i64; 2]) -> usize {
    let [column, row] = [x, y].map(|pixel| (pixel >> GROUP_LOG2) as usize & ((1 << GROUPS_LOG2) - 1));
    row << GROUPS_LOG2 | column
}

/// Depths of a primitive over the pixels `[x0, y0, x1, y1]`, the last ones not included, of an attachment with so many bits of
/// depth and so many samples.
#[inline]
pub fn depths_over(shape: &Shape, [x0, y0, x1, y1]: [i64; 4], depth_bits: u32, samples: u32) -> Range {
    // Samples lie anywhere in a pixel, its centre in the middle.
    let [first, last] = if samples == 1 { [0.5, 0.5] } else { [0.0, 1.0] };
    let along = |low: i64, high: i64, axis: usize| {
        let from_reference = |pixel: i64| pixel as f32 - shape.reference[axis];
        [from_reference(low) + first, from_reference(high - 1) + last]
    };
    let (xs, ys) = (along(x0, x1, 0), along(y0, y1, 1));
    let corners = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(x, y): (usize, usize)| {
        let [near, far] = shape.depth_range;
        shape.depth.at(xs[x], ys[y]).max(near).min(far)
    });
    let pick = |pick: fn(f32, f32) -> f32| pick(pick(corners[0], corners[1]), pick(corners[2], corners[3]));
    as_stored([pick(f32::min), pick(f32::max)], depth_bits)
}

/// A range of depths as an attachment with so many bits holds them.
#[inline]
pub fn as_stored(range: Range, depth_bits: u32) -> Range {
    match depth_bits {
        32 => range,
        bits => range.map(|depth| decode_depth(bits, encode_depth(bits, depth))),
    }
}

/// The structure of a depth attachment, by the tiles of a pass. A tile is one worker's at a time.
#[derive(Debug)]
pub struct Hierarchy {
    tiles: Vec<Mutex<Bounds>>,
}

impl Hierarchy {
    /// Of so many tiles, all of whose depths are `cleared`, or not known.
    pub fn new(tiles: usize, cleared: Option<f32>) -> Self {
        let range = cleared.map_or(UNKNOWN, |depth| [depth; 2]);
        Self { tiles: (0..tiles).map(|_| Mutex::new(Bounds::new(range))).collect() }
    }

    /// The bounds of a tile.
    pub fn tile(&self, number: usize) -> Option<MutexGuard<'_, Bounds>> {
        self.tiles.get(number).map(Mutex::lock)
    }
}

#[cfg(test)]
mod tests;
