//! Hi-Z, the hierarchical visibility structure: bounds of the depths in each 8x8 group and each
//! tile of a depth attachment.
//!
//! The structure is queried in front of the tiler (`early`), at the start of a tile, and in the
//! rasterizer down to 2x2 quads (`quads`). It is updated in the first two places only, from the
//! bounds of primitives that are certain to write depth, never from pixels (forward update). All
//! primitives of a segment of a tile update it before the segment is rasterized, so that a later
//! primitive may drop an earlier one that it hides. The primitives of a segment are opaque in the
//! same attachments, compare and write depth in one direction, and have no other effect. The
//! structure belongs to the image (`kept`): later passes find it again, and clears reset it.
//! Source: DESIGN 3.2.
//!
//! A group has two layers: bounds of all its pixels, and a nearer bound of the pixels of a mask. A
//! primitive that covers a group in part adds its pixels to the mask. Once the mask is full, the
//! layer becomes the group's bound. Many small occluders together count like a large one. Source:
//! Hasselgren, Andersson and Akenine-Moeller, "Masked Software Occlusion Culling".
//!
//! Bounds are of depths as the attachment stores them, rounded for fixed-point formats. Each
//! operation that computes depths is monotonic, so the extremes over a rectangle of pixels are at
//! its corners.

mod balance;
mod early;
mod kept;
mod occlusion;
mod quads;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use ash::vk;
use parking_lot::{Mutex, MutexGuard};
use vitric_format::stored_depth;

use crate::raster::{GROUP_LOG2, Shape, TILE_LOG2, within};

pub use balance::{Balance, Hiz};
pub use early::{Early, groups_of};
pub use kept::{Bytes, KeptDepths};
pub use occlusion::{Hiding, HizUpdate, UpdateRules, apply_update, apply_updates};
pub use quads::blocks_and_quads;

/// Groups along a tile's side, as a power of two.
const GROUPS_LOG2: u32 = TILE_LOG2 - GROUP_LOG2;

/// Number of groups of a tile.
pub const GROUPS: usize = 1 << (2 * GROUPS_LOG2);

/// Least and greatest depth.
pub type Range = [f32; 2];

/// Range of all depths.
const UNKNOWN: Range = [f32::NEG_INFINITY, f32::INFINITY];

/// Direction of a depth comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Smaller depths pass.
    Less,
    /// Greater depths pass.
    Greater,
}

impl Direction {
    /// Returns the direction of a comparison, or `None` if it has none.
    pub fn of(op: vk::CompareOp) -> Option<Self> {
        match op {
            vk::CompareOp::LESS | vk::CompareOp::LESS_OR_EQUAL => Some(Self::Less),
            vk::CompareOp::GREATER | vk::CompareOp::GREATER_OR_EQUAL => Some(Self::Greater),
            _ => None,
        }
    }

    /// Returns true if every depth in `range` lies behind every depth in `stored`.
    #[inline]
    fn hides(self, stored: Range, range: Range) -> bool {
        match self {
            Self::Less => range[0] > stored[1],
            Self::Greater => range[1] < stored[0],
        }
    }

    /// Returns true if every depth in `range` passes against every depth in `stored`, by a
    /// comparison of this direction that also lets equal depths pass or does not.
    #[inline]
    fn passes(self, stored: Range, range: Range, equal_too: bool) -> bool {
        let (stored, new) = (self.nearness(self.front(stored)), self.nearness(self.far(range)));
        new < stored || equal_too && new == stored
    }

    /// Returns the nearness of a depth: a value that is smaller for nearer depths in either
    /// direction.
    #[inline]
    pub fn nearness(self, depth: f32) -> f32 {
        match self {
            Self::Less => depth,
            Self::Greater => -depth,
        }
    }

    /// Returns the farthest depth of a range.
    #[inline]
    pub fn far(self, range: Range) -> f32 {
        match self {
            Self::Less => range[1],
            Self::Greater => range[0],
        }
    }

    /// Returns the nearest depth of a range.
    #[inline]
    pub fn front(self, range: Range) -> f32 {
        match self {
            Self::Less => range[0],
            Self::Greater => range[1],
        }
    }

    /// Returns true if a draw that writes by a comparison may leave depths farther than before.
    pub fn may_recede(self, op: vk::CompareOp) -> bool {
        let keeps = matches!(op, vk::CompareOp::NEVER | vk::CompareOp::EQUAL);
        !keeps && Self::of(op) != Some(self)
    }

    /// Returns the range of stored depths after all depths in `range` were tested and written.
    fn tightened(self, stored: Range, range: Range) -> Range {
        match self {
            Self::Less => [stored[0].min(range[0]), stored[1].min(range[1])],
            Self::Greater => [stored[0].max(range[0]), stored[1].max(range[1])],
        }
    }
}

/// Effects of a draw on the structure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Visibility {
    /// Direction in which hidden fragments may be dropped.
    pub tests: Option<Direction>,
    /// True if its primitives write depth wherever they cover pixels and pass.
    pub updates_hiz: bool,
    /// True if its updates may drop earlier primitives of the segment.
    pub looks_ahead: bool,
    /// Comparison by which it writes depth, if it does.
    pub writes: Option<vk::CompareOp>,
}

/// Second layer of a group: a mask of pixels, as bits of coverage, and the depth than which they
/// are no farther.
#[derive(Debug, Clone, Copy, Default)]
struct Layer {
    mask: u64,
    depth: f32,
}

impl Layer {
    /// Adds pixels of `mask`, which were tested and written with depths no farther than `far`. All
    /// pixels of the group are no farther than
    /// `all`. Returns the group's new bound if the layer now has all pixels.
    fn add(&mut self, direction: Direction, (mask, far): (u64, f32), all: f32) -> Option<f32> {
        let near = |depth: f32| direction.nearness(depth);
        let gain = near(all) - near(far);
        if gain.is_nan() || gain <= 0.0 {
            return None;
        }
        // A layer that is nearer to the group's bound than to the new depth is worth less than the
        // new one.
        let starts = self.mask == 0 || near(self.depth) - near(far) > near(all) - near(self.depth);
        if starts {
            *self = Self { mask, depth: far };
        } else {
            self.mask |= mask;
            self.depth = if near(far) > near(self.depth) { far } else { self.depth };
        }
        if self.mask != u64::MAX {
            return None;
        }
        self.mask = 0;
        Some(self.depth)
    }
}

/// Bounds of a tile's depths.
#[derive(Debug, Clone)]
pub struct Bounds {
    groups: [Range; GROUPS],
    all: Range,
    layers: [Layer; GROUPS],
    /// Direction of the layers.
    direction: Option<Direction>,
    /// Pixels of the tile that lie in the image: `[x0, y0, x1, y1]` with exclusive ends.
    pixels: [i64; 4],
    /// Number of resets of all tiles that this tile has followed.
    resets: u32,
    /// Estimate whether tests pay in the tile, which resets do not change.
    balance: Balance,
}

impl Bounds {
    fn new(range: Range, pixels: [i64; 4], hiz: Hiz) -> Self {
        let (resets, balance) = (0, Balance::new(hiz));
        let layers = [Layer::default(); GROUPS];
        Self { groups: [range; GROUPS], all: range, layers, direction: None, pixels, resets, balance }
    }

    fn reset(&mut self, range: Range, resets: u32) {
        (self.groups, self.all, self.resets) = ([range; GROUPS], range, resets);
        self.drop_layers();
    }

    /// Returns the pixels of the tile that lie in the image: `[x0, y0, x1, y1]` with exclusive
    /// ends.
    pub fn pixels(&self) -> [i64; 4] {
        self.pixels
    }

    /// Returns the estimate whether tests pay in the tile.
    pub fn balance(&mut self) -> &mut Balance {
        &mut self.balance
    }

    /// Notes that the depths of the pixels of a rectangle became `depth`.
    fn clear(&mut self, area: [i64; 4], depth: f32) {
        for group in 0..GROUPS {
            let own = self.pixels_of(group);
            let cleared = within(own, area);
            if is_empty(cleared) {
                continue;
            }
            self.layers[group].mask = 0;
            let [low, high] = self.groups[group];
            self.groups[group] = if cleared == own { [depth; 2] } else { [low.min(depth), high.max(depth)] };
        }
        self.sum_up();
    }

    /// Returns the pixels of a group that lie in the image.
    fn pixels_of(&self, group: usize) -> [i64; 4] {
        let place = [group & ((1 << GROUPS_LOG2) - 1), group >> GROUPS_LOG2];
        let first = |axis: usize| (self.pixels[axis] >> TILE_LOG2 << TILE_LOG2) + ((place[axis] as i64) << GROUP_LOG2);
        let [x, y] = [first(0), first(1)];
        within([x, y, x + (1 << GROUP_LOG2), y + (1 << GROUP_LOG2)], self.pixels)
    }

    /// Prepares for a draw that tests and writes in a direction. Layers of the other direction are
    /// dropped.
    pub fn turn(&mut self, direction: Direction) {
        if self.direction != Some(direction) {
            self.direction = Some(direction);
            self.drop_layers();
        }
    }

    fn drop_layers(&mut self) {
        self.layers.iter_mut().for_each(|layer| layer.mask = 0);
    }

    /// Returns the pixels of the quads of a group in which a primitive is hidden. `covered` are
    /// the pixels that it may cover, `shape` is its shape, and `place` the first pixel of the
    /// group.
    pub fn hidden_quads(
        &self,
        direction: Direction,
        (group, covered): (usize, u64),
        (shape, place): (&Shape, [i64; 2]),
        depths: (u32, u32),
    ) -> u64 {
        let Layer { mask, depth } = self.layers[group];
        let far = direction.nearness(direction.far(self.groups[group]));
        let named = quads::named(covered & !mask);
        quads::hidden(direction, [far, direction.nearness(depth)], named, (shape, place), depths)
    }

    /// Returns true if parts of a group may hide parts of a primitive that the whole group does
    /// not hide.
    #[inline]
    pub fn may_hide_quads(&self, direction: Direction, group: usize, range: Range) -> bool {
        let (Layer { mask, depth }, near) = (self.layers[group], |depth| direction.nearness(depth));
        let far = near(direction.far(self.groups[group]));
        let nearest = if mask == 0 { far } else { far.min(near(depth)) };
        near(direction.far(range)) > nearest
    }

    /// Returns true if `range` is hidden in the whole tile.
    #[inline]
    pub fn hides_in_tile(&self, direction: Direction, range: Range) -> bool {
        direction.hides(self.all, range)
    }

    /// Returns true if every depth in `range` passes a comparison against every depth of the tile.
    pub fn lies_behind(&self, op: vk::CompareOp, range: Range) -> bool {
        let equal_too = matches!(op, vk::CompareOp::LESS_OR_EQUAL | vk::CompareOp::GREATER_OR_EQUAL);
        Direction::of(op).is_some_and(|direction| direction.passes(self.all, range, equal_too))
    }

    /// Returns true if `range` is hidden in a group.
    #[inline]
    pub fn hides_in_group(&self, direction: Direction, group: usize, range: Range) -> bool {
        direction.hides(self.groups[group], range)
    }

    /// Returns true if `range` is hidden in the covered pixels of a group.
    #[inline]
    pub fn hides_pixels(&self, direction: Direction, (group, pixels): (usize, u64), range: Range) -> bool {
        let Layer { mask, depth } = self.layers[group];
        pixels & !mask == 0 && direction.hides([depth; 2], range)
    }

    /// Updates a group of which all pixels in the image were tested and written with depths in
    /// `range`.
    pub fn update(&mut self, direction: Direction, group: usize, range: Range) {
        self.groups[group] = direction.tightened(self.groups[group], range);
    }

    /// Updates a group of which the pixels of `mask` were tested and written with depths in
    /// `range`. The mask also has all pixels outside of the image.
    pub fn update_part(&mut self, direction: Direction, (group, mask): (usize, u64), range: Range) {
        self.loosen(direction, group, range);
        let (bounds, far) = (self.groups[group], direction.far(range));
        if let Some(depth) = self.layers[group].add(direction, (mask, far), direction.far(bounds)) {
            self.groups[group] = direction.tightened(bounds, [depth; 2]);
        }
    }

    /// Loosens the bounds of a group of which some pixels were tested and written with depths in
    /// `range`.
    pub fn loosen(&mut self, direction: Direction, group: usize, range: Range) {
        let bounds = &mut self.groups[group];
        // Few of the many small primitives change anything. A store would delay the load of the
        // next one.
        match direction {
            Direction::Less if range[0] < bounds[0] => bounds[0] = range[0],
            Direction::Greater if range[1] > bounds[1] => bounds[1] = range[1],
            _ => {}
        }
    }

    /// Returns true if no group in a window hides any of some primitives. If so, and if they are
    /// written (`writes`), loosens these groups.
    /// `depths` are the least and the greatest of the primitives' least depths, then of their
    /// greatest depths.
    pub fn lets_pass(&mut self, direction: Direction, window: [i64; 4], depths: [Range; 2], writes: bool) -> bool {
        // The nearest depth of any primitive, and the farthest of the primitives' nearest depths.
        let (nearest, farthest) = match direction {
            Direction::Less => ([depths[0][0]; 2], [depths[0][1]; 2]),
            Direction::Greater => ([depths[1][1]; 2], [depths[1][0]; 2]),
        };
        let hides = |group| direction.hides(self.groups[group_number(group)], farthest);
        if groups_of(window).any(hides) {
            return false;
        }
        if writes {
            groups_of(window).for_each(|group| self.loosen(direction, group_number(group), nearest));
        }
        true
    }

    /// Updates a tile of which all pixels were tested and written with depths in `range`.
    pub fn update_all(&mut self, direction: Direction, range: Range) {
        for group in &mut self.groups {
            *group = direction.tightened(*group, range);
        }
    }

    /// Loosens the bounds for a draw that writes depth by a comparison without updates.
    pub fn forget(&mut self, op: vk::CompareOp) {
        let (lowers, raises) = match (op, Direction::of(op)) {
            (vk::CompareOp::NEVER | vk::CompareOp::EQUAL, _) => (false, false),
            (_, Some(Direction::Less)) => (true, false),
            (_, Some(Direction::Greater)) => (false, true),
            _ => (true, true),
        };
        for range in self.groups.iter_mut().chain([&mut self.all]) {
            *range = [if lowers { UNKNOWN[0] } else { range[0] }, if raises { UNKNOWN[1] } else { range[1] }];
        }
        if self.direction.is_some_and(|direction| if direction == Direction::Less { raises } else { lowers }) {
            self.drop_layers();
        }
    }

    /// Recomputes the bounds of the tile from its groups, which were updated.
    pub fn sum_up(&mut self) {
        let [first, ..] = self.groups;
        self.all = self.groups.iter().fold(first, |all, group| [all[0].min(group[0]), all[1].max(group[1])]);
    }
}

/// Returns the number of a group in its tile, given its first pixel.
#[inline]
pub fn group_number([x, y]: [i64; 2]) -> usize {
    let [column, row] = [x, y].map(|pixel| (pixel >> GROUP_LOG2) as usize & ((1 << GROUPS_LOG2) - 1));
    row << GROUPS_LOG2 | column
}

/// Returns the range of depths of a primitive over the pixels `[x0, y0, x1, y1]` with exclusive
/// ends, for an attachment of a number of bits of depth and of samples.
#[inline]
pub fn depths_over(shape: &Shape, [x0, y0, x1, y1]: [i64; 4], depth_bits: u32, samples: u32) -> Range {
    // Several samples may lie anywhere in a pixel. A single one lies at the centre.
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

/// Returns a range of depths as an attachment of `depth_bits` stores them.
#[inline]
pub fn as_stored(range: Range, depth_bits: u32) -> Range {
    if depth_bits == 32 { range } else { range.map(|depth| stored_depth(depth_bits, depth)) }
}

/// Returns true if a rectangle is empty.
#[inline]
fn is_empty([x0, y0, x1, y1]: [i64; 4]) -> bool {
    x0 >= x1 || y0 >= y1
}

/// Structure of one level and layer of a depth image, by tiles. One worker uses a tile at a time.
#[derive(Debug)]
pub struct Hierarchy {
    /// Bounds of tiles, made at the first use of a tile, because programs often use small parts of
    /// large images.
    tiles: Vec<OnceLock<Box<Mutex<Bounds>>>>,
    /// Setting of the tests.
    hiz: Hiz,
    /// Number of tiles of a row.
    columns: i64,
    extent: [i64; 2],
    /// Number of resets of all tiles, and the range of the last one, as bits. Each tile follows at
    /// its next use.
    resets: AtomicU32,
    reset_to: [AtomicU32; 2],
    /// Estimate whether tests in front of the tiler pay.
    balance: Mutex<Balance>,
}

impl Hierarchy {
    /// Returns the structure of an image of a width and height in pixels, whose depths are
    /// unknown.
    pub fn new([width, height]: [u32; 2], hiz: Hiz) -> Self {
        let count = |pixels: u32| i64::from(pixels.div_ceil(1 << TILE_LOG2));
        let (columns, rows) = (count(width), count(height));
        let reset_to = UNKNOWN.map(|depth| AtomicU32::new(depth.to_bits()));
        let extent = [width, height].map(i64::from);
        let tiles = (0..columns * rows).map(|_| OnceLock::new()).collect();
        let (resets, balance) = (AtomicU32::new(0), Mutex::new(Balance::new(hiz)));
        Self { tiles, hiz, columns, extent, resets, reset_to, balance }
    }

    /// Returns the bounds of the tile in a column and row, whose depths are unknown.
    fn unknown(&self, place: [i64; 2]) -> Bounds {
        let ([x, y], side) = (place.map(|tile| tile << TILE_LOG2), 1 << TILE_LOG2);
        let pixels = within([x, y, x + side, y + side], [0, 0, self.extent[0], self.extent[1]]);
        Bounds::new(UNKNOWN, pixels, self.hiz)
    }

    /// Returns width and height in pixels.
    pub fn extent(&self) -> [i64; 2] {
        self.extent
    }

    /// Returns the estimate whether tests in front of the tiler pay.
    pub fn balance(&self) -> MutexGuard<'_, Balance> {
        self.balance.lock()
    }

    /// Returns the number of tiles.
    pub fn tiles(&self) -> usize {
        self.tiles.len()
    }

    /// Returns the bounds of the tile of a pixel, or `None` outside of the image.
    pub fn tile(&self, pixel: [i64; 2]) -> Option<MutexGuard<'_, Bounds>> {
        let [column, row] = pixel.map(|pixel| pixel >> TILE_LOG2);
        if !(0..self.columns).contains(&column) {
            return None;
        }
        let tile = self.tiles.get(usize::try_from(row * self.columns + column).ok()?)?;
        let mut tile = tile.get_or_init(|| Box::new(Mutex::new(self.unknown([column, row])))).lock();
        let resets = self.resets.load(Ordering::Relaxed);
        if tile.resets != resets {
            let range = [0, 1].map(|end: usize| f32::from_bits(self.reset_to[end].load(Ordering::Relaxed)));
            tile.reset(range, resets);
        }
        Some(tile)
    }

    /// Notes that the depths of the pixels of a rectangle became `depth`, as the image stores it.
    /// No worker may be using a tile.
    pub fn clear(&self, area: [i64; 4], depth: f32) {
        let image = [0, 0, self.extent[0], self.extent[1]];
        let area = within(area, image);
        if area == image {
            return self.reset([depth; 2]);
        }
        if is_empty(area) {
            return;
        }
        let [left, top, right, bottom] =
            [area[0], area[1], area[2] - 1, area[3] - 1].map(|pixel| pixel >> TILE_LOG2 << TILE_LOG2);
        for y in (top..=bottom).step_by(1 << TILE_LOG2) {
            for x in (left..=right).step_by(1 << TILE_LOG2) {
                if let Some(mut tile) = self.tile([x, y]) {
                    tile.clear(area, depth);
                }
            }
        }
    }

    /// Resets all tiles to a range in which all depths lie.
    fn reset(&self, range: Range) {
        for (word, depth) in self.reset_to.iter().zip(range) {
            word.store(depth.to_bits(), Ordering::Relaxed);
        }
        self.resets.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
