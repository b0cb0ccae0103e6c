//! Hi-Z, the hierarchical visibility structure: bounds of the depths in each 8x8 group and each
//! tile of a depth attachment.
//!
//! The structure is queried in front of the tiler (`early`), at the start of a tile, and in the
//! rasterizer down to 2x2 quads (`quads`). It is updated in all three places, by the depths and the
//! coverage of primitives that are certain to write depth (forward update). Stored depths are read
//! only where all bounds of a tile are unknown. Large primitives of a segment update the structure
//! before the segment is tested, in front of the tiler and in a tile. A later primitive then drops
//! an earlier one that it hides. The primitives of a segment are opaque in the
//! same attachments, compare and write depth in one direction, and have no other effect. The
//! structure belongs to the image (`cache`): later passes find it again, and clears reset it.
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

mod cache;
mod early;
mod heuristic;
mod occlusion;
mod quads;

use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use ash::vk;
use parking_lot::{Mutex, MutexGuard};
use vitric_format::stored_depth;

use crate::raster::{GROUP_LOG2, Shape, TILE_LOG2, within};

pub use cache::{Bytes, HizCache};
pub use early::{EarlyBounds, GroupRect, groups_of};
pub use heuristic::{Hiz, HizHeuristic};
pub use occlusion::{HizUpdate, HizUpdater, OcclusionTest, UpdateCoverage, UpdateRules, apply_updates};
use quads::GroupBounds;
pub use quads::blocks_and_quads;

/// Groups along a tile's side, as a power of two.
const GROUPS_LOG2: u32 = TILE_LOG2 - GROUP_LOG2;

/// Number of groups of a tile.
pub const GROUPS: usize = 1 << (2 * GROUPS_LOG2);

/// Range of depths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DepthRange {
    /// Minimum depth.
    pub min: f32,
    /// Maximum depth.
    pub max: f32,
}

impl DepthRange {
    /// Range of all depths.
    const UNKNOWN: Self = Self { min: f32::NEG_INFINITY, max: f32::INFINITY };

    /// Returns the range that contains a single depth.
    #[inline]
    pub const fn of(depth: f32) -> Self {
        Self { min: depth, max: depth }
    }

    /// Returns the smallest range that contains both ranges.
    #[inline]
    fn joined(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Returns the range with its bounds converted by `convert`, which is monotonic.
    #[inline]
    fn map(self, convert: impl Fn(f32) -> f32) -> Self {
        Self { min: convert(self.min), max: convert(self.max) }
    }
}

/// Format of the depths that an attachment stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DepthFormat {
    /// Bits of a depth.
    pub bits: u32,
    /// Samples of a pixel.
    pub samples: u32,
}

/// Pixels of a group of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupCoverage {
    /// Number of the group in its tile.
    pub group: usize,
    /// Mask of the pixels, in the bit order of a group.
    pub pixels: u64,
}

/// Direction of a depth comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DepthDirection {
    /// Smaller depths pass.
    Less,
    /// Greater depths pass.
    Greater,
}

impl DepthDirection {
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
    fn hides(self, stored: DepthRange, range: DepthRange) -> bool {
        match self {
            Self::Less => range.min > stored.max,
            Self::Greater => range.max < stored.min,
        }
    }

    /// Returns true if every depth in `range` passes against every depth in `stored`, by a
    /// comparison of this direction that also lets equal depths pass or does not.
    #[inline]
    fn passes(self, stored: DepthRange, range: DepthRange, equal_too: bool) -> bool {
        let (stored, new) = (self.nearness(self.near(stored)), self.nearness(self.far(range)));
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
    pub fn far(self, range: DepthRange) -> f32 {
        match self {
            Self::Less => range.max,
            Self::Greater => range.min,
        }
    }

    /// Returns the nearest depth of a range.
    #[inline]
    pub fn near(self, range: DepthRange) -> f32 {
        match self {
            Self::Less => range.min,
            Self::Greater => range.max,
        }
    }

    /// Returns true if a draw that writes by a comparison may leave depths farther than before.
    pub fn may_recede(self, op: vk::CompareOp) -> bool {
        let keeps = matches!(op, vk::CompareOp::NEVER | vk::CompareOp::EQUAL);
        !keeps && Self::of(op) != Some(self)
    }

    /// Returns the range of stored depths after all depths in `range` were tested and written.
    fn tightened(self, stored: DepthRange, range: DepthRange) -> DepthRange {
        match self {
            Self::Less => DepthRange { min: stored.min.min(range.min), max: stored.max.min(range.max) },
            Self::Greater => DepthRange { min: stored.min.max(range.min), max: stored.max.max(range.max) },
        }
    }
}

/// Effects of a draw on the structure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Visibility {
    /// Direction in which hidden fragments may be dropped.
    pub tests: Option<DepthDirection>,
    /// True if its primitives write depth wherever they cover pixels and pass.
    pub updates_hiz: bool,
    /// True if its updates may drop earlier primitives of the segment.
    pub looks_ahead: bool,
    /// Comparison by which it writes depth, if it does.
    pub writes: Option<vk::CompareOp>,
}

impl Visibility {
    /// Returns true if depths may be farther after the draw than before, in a direction.
    pub fn recedes(&self, direction: DepthDirection) -> bool {
        self.writes.is_some_and(|op| direction.may_recede(op))
    }
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
    /// pixels of the group are no farther than `all`. Returns the group's new bound if the layer
    /// now has all pixels.
    fn add(&mut self, direction: DepthDirection, (mask, far): (u64, f32), all: f32) -> Option<f32> {
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
    groups: [DepthRange; GROUPS],
    all: DepthRange,
    layers: [Layer; GROUPS],
    /// Direction of the layers, if any group may have one.
    direction: Option<DepthDirection>,
    /// Pixels of the tile that lie in the image: `[x0, y0, x1, y1]` with exclusive ends.
    pixels: [i64; 4],
    /// Number of resets of all tiles that this tile has followed.
    resets: u32,
    /// True if depths became known to be nearer while the bounds are in use.
    gained: bool,
    /// Estimate whether tests pay in the tile, which resets do not change.
    heuristic: HizHeuristic,
}

impl Bounds {
    fn new(range: DepthRange, pixels: [i64; 4], hiz: Hiz) -> Self {
        let heuristic = HizHeuristic::new(hiz);
        let layers = [Layer::default(); GROUPS];
        Self {
            groups: [range; GROUPS],
            all: range,
            layers,
            direction: None,
            pixels,
            resets: 0,
            gained: false,
            heuristic,
        }
    }

    fn reset(&mut self, range: DepthRange, resets: u32) {
        (self.groups, self.all, self.resets) = ([range; GROUPS], range, resets);
        self.drop_layers();
    }

    /// Returns the pixels of the tile that lie in the image: `[x0, y0, x1, y1]` with exclusive
    /// ends.
    pub fn pixels(&self) -> [i64; 4] {
        self.pixels
    }

    /// Returns the estimate whether tests pay in the tile.
    pub fn heuristic(&mut self) -> &mut HizHeuristic {
        &mut self.heuristic
    }

    /// Returns true if nothing is known of any depth in the tile.
    pub fn is_unknown(&self) -> bool {
        self.all == DepthRange::UNKNOWN && self.groups.iter().all(|range| *range == DepthRange::UNKNOWN)
    }

    /// Notes that all depths of a group lie in a range. [`Self::recompute_tile`] must follow.
    pub fn set_group(&mut self, group: usize, range: DepthRange) {
        self.groups[group] = range;
        self.gained = true;
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
            let cleared_to = DepthRange::of(depth);
            self.groups[group] = if cleared == own { cleared_to } else { self.groups[group].joined(cleared_to) };
        }
        self.gained = true;
        self.recompute_tile();
    }

    /// Returns the pixels of a group that lie in the image.
    fn pixels_of(&self, group: usize) -> [i64; 4] {
        let corner = [self.pixels[0], self.pixels[1]].map(|pixel| pixel >> TILE_LOG2 << TILE_LOG2);
        within(pixels_of_group(corner, group), self.pixels)
    }

    /// Prepares for a draw that tests and writes in a direction. Layers of the other direction are
    /// dropped.
    pub fn set_direction(&mut self, direction: DepthDirection) {
        if self.direction != Some(direction) {
            self.drop_layers();
            self.direction = Some(direction);
        }
    }

    fn drop_layers(&mut self) {
        if self.direction.take().is_some() {
            self.layers.iter_mut().for_each(|layer| layer.mask = 0);
        }
    }

    /// Returns the pixels of the quads of a group in which a primitive is hidden. `covered` are
    /// the pixels that it may cover, and `origin` is the first pixel of the group.
    pub fn hidden_quads(
        &self,
        direction: DepthDirection,
        covered: GroupCoverage,
        shape: &Shape,
        origin: [i64; 2],
        format: DepthFormat,
    ) -> u64 {
        let Layer { mask, depth } = self.layers[covered.group];
        let bounds = GroupBounds {
            all: direction.nearness(direction.far(self.groups[covered.group])),
            layer: direction.nearness(depth),
            outside_layer: quads::quads_of(covered.pixels & !mask),
        };
        quads::hidden(direction, bounds, shape, origin, format)
    }

    /// Returns true if parts of a group may hide parts of a primitive that the whole group does
    /// not hide.
    #[inline]
    pub fn may_hide_quads(&self, direction: DepthDirection, group: usize, range: DepthRange) -> bool {
        let (Layer { mask, depth }, near) = (self.layers[group], |depth| direction.nearness(depth));
        let far = near(direction.far(self.groups[group]));
        let nearest = if mask == 0 { far } else { far.min(near(depth)) };
        near(direction.far(range)) > nearest
    }

    /// Returns true if `range` is hidden in the whole tile.
    #[inline]
    pub fn hides_in_tile(&self, direction: DepthDirection, range: DepthRange) -> bool {
        direction.hides(self.all, range)
    }

    /// Returns true if every depth in `range` passes a comparison against every depth of the tile.
    pub fn lies_behind(&self, op: vk::CompareOp, range: DepthRange) -> bool {
        let equal_too = matches!(op, vk::CompareOp::LESS_OR_EQUAL | vk::CompareOp::GREATER_OR_EQUAL);
        DepthDirection::of(op).is_some_and(|direction| direction.passes(self.all, range, equal_too))
    }

    /// Returns true if `range` is hidden in a group.
    #[inline]
    pub fn hides_in_group(&self, direction: DepthDirection, group: usize, range: DepthRange) -> bool {
        direction.hides(self.groups[group], range)
    }

    /// Returns true if `range` is hidden in the covered pixels of a group.
    #[inline]
    pub fn hides_pixels(&self, direction: DepthDirection, covered: GroupCoverage, range: DepthRange) -> bool {
        let Layer { mask, depth } = self.layers[covered.group];
        covered.pixels & !mask == 0 && direction.hides(DepthRange::of(depth), range)
    }

    /// Updates a group of which all pixels in the image were tested and written with depths in
    /// `range`.
    pub fn update(&mut self, direction: DepthDirection, group: usize, range: DepthRange) {
        self.groups[group] = direction.tightened(self.groups[group], range);
        self.gained = true;
    }

    /// Updates a group of which the pixels of `written` were tested and written with depths in
    /// `range`. `written` also has all pixels outside of the image.
    pub fn update_part(&mut self, direction: DepthDirection, written: GroupCoverage, range: DepthRange) {
        let GroupCoverage { group, pixels } = written;
        self.loosen(direction, group, range);
        let (bounds, far) = (self.groups[group], direction.far(range));
        if let Some(depth) = self.layers[group].add(direction, (pixels, far), direction.far(bounds)) {
            self.update(direction, group, DepthRange::of(depth));
        }
    }

    /// Loosens the bounds of a group of which some pixels were tested and written with depths in
    /// `range`.
    pub fn loosen(&mut self, direction: DepthDirection, group: usize, range: DepthRange) {
        let bounds = &mut self.groups[group];
        // Few of the many small primitives change anything. A store would delay the load of the
        // next one.
        match direction {
            DepthDirection::Less if range.min < bounds.min => bounds.min = range.min,
            DepthDirection::Greater if range.max > bounds.max => bounds.max = range.max,
            _ => {}
        }
    }

    /// Returns true if no group in a window hides any of some primitives. If so, and if they are
    /// written (`writes`), loosens these groups.
    /// `depths` are the least and the greatest of the primitives' least depths, then of their
    /// greatest depths.
    pub fn passes_everywhere(
        &mut self,
        direction: DepthDirection,
        window: [i64; 4],
        depths: [DepthRange; 2],
        writes: bool,
    ) -> bool {
        // The nearest depth of any primitive, and the farthest of the primitives' nearest depths.
        let (nearest, farthest) = match direction {
            DepthDirection::Less => (DepthRange::of(depths[0].min), DepthRange::of(depths[0].max)),
            DepthDirection::Greater => (DepthRange::of(depths[1].max), DepthRange::of(depths[1].min)),
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
    pub fn update_all(&mut self, direction: DepthDirection, range: DepthRange) {
        for group in &mut self.groups {
            *group = direction.tightened(*group, range);
        }
        self.gained = true;
    }

    /// Loosens the bounds for a draw that writes depth by a comparison without updates.
    pub fn forget(&mut self, op: vk::CompareOp) {
        let (lowers, raises) = match (op, DepthDirection::of(op)) {
            (vk::CompareOp::NEVER | vk::CompareOp::EQUAL, _) => (false, false),
            (_, Some(DepthDirection::Less)) => (true, false),
            (_, Some(DepthDirection::Greater)) => (false, true),
            _ => (true, true),
        };
        for range in self.groups.iter_mut().chain([&mut self.all]) {
            *range = DepthRange {
                min: if lowers { DepthRange::UNKNOWN.min } else { range.min },
                max: if raises { DepthRange::UNKNOWN.max } else { range.max },
            };
        }
        if self.direction.is_some_and(|direction| if direction == DepthDirection::Less { raises } else { lowers }) {
            self.drop_layers();
        }
    }

    /// Recomputes the bounds of the tile from its groups, which were updated.
    pub fn recompute_tile(&mut self) {
        let [first, ..] = self.groups;
        self.all = self.groups.iter().fold(first, |all, group| all.joined(*group));
    }
}

/// Returns the number of a group in its tile, given its first pixel.
#[inline]
pub fn group_number([x, y]: [i64; 2]) -> usize {
    let [column, row] = [x, y].map(|pixel| (pixel >> GROUP_LOG2) as usize & ((1 << GROUPS_LOG2) - 1));
    row << GROUPS_LOG2 | column
}

/// Returns the pixels of a group, given its number and the first pixel of its tile.
#[inline]
pub fn pixels_of_group([left, top]: [i64; 2], group: usize) -> [i64; 4] {
    let place = |number: usize, first: i64| first + ((number as i64) << GROUP_LOG2);
    let (x, y) = (place(group & ((1 << GROUPS_LOG2) - 1), left), place(group >> GROUPS_LOG2, top));
    [x, y, x + (1 << GROUP_LOG2), y + (1 << GROUP_LOG2)]
}

/// Returns the range of the depths of a primitive over the pixels `[x0, y0, x1, y1]` with exclusive
/// ends, as an attachment stores them.
#[inline]
pub fn depths_over(shape: &Shape, [x0, y0, x1, y1]: [i64; 4], format: DepthFormat) -> DepthRange {
    let [first, last] = sample_span(format);
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
    as_stored(DepthRange { min: pick(f32::min), max: pick(f32::max) }, format.bits)
}

/// Returns the first and the last place along an axis of a pixel where samples may lie.
#[inline]
fn sample_span(format: DepthFormat) -> [f32; 2] {
    // Several samples may lie anywhere in a pixel. A single one lies at the centre.
    if format.samples == 1 { [0.5, 0.5] } else { [0.0, 1.0] }
}

/// Returns a range of depths as an attachment of `depth_bits` stores them.
#[inline]
pub fn as_stored(range: DepthRange, depth_bits: u32) -> DepthRange {
    if depth_bits == 32 { range } else { range.map(|depth| stored_depth(depth_bits, depth)) }
}

/// Returns true if a rectangle is empty.
#[inline]
fn is_empty([x0, y0, x1, y1]: [i64; 4]) -> bool {
    x0 >= x1 || y0 >= y1
}

/// Bounds of a tile while a worker uses them.
#[derive(Debug)]
pub struct BoundsInUse<'a> {
    bounds: MutexGuard<'a, Bounds>,
    gains: &'a AtomicU32,
}

impl Deref for BoundsInUse<'_> {
    type Target = Bounds;

    fn deref(&self) -> &Bounds {
        &self.bounds
    }
}

impl DerefMut for BoundsInUse<'_> {
    fn deref_mut(&mut self) -> &mut Bounds {
        &mut self.bounds
    }
}

impl Drop for BoundsInUse<'_> {
    fn drop(&mut self) {
        if std::mem::take(&mut self.bounds.gained) {
            self.gains.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Depths of a tile that are known.
#[derive(Debug)]
pub enum KnownTile<'a> {
    /// The tile was not used since the last reset of all tiles, to this range.
    Reset(DepthRange),
    /// The bounds of a tile that was used since then.
    Used(MutexGuard<'a, Bounds>),
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
    /// Number of uses of tiles in which depths became known to be nearer.
    gains: AtomicU32,
    /// Estimate whether tests in front of the tiler pay.
    heuristic: Mutex<HizHeuristic>,
}

impl Hierarchy {
    /// Returns the structure of an image of a width and height in pixels, whose depths are
    /// unknown.
    pub fn new([width, height]: [u32; 2], hiz: Hiz) -> Self {
        let count = |pixels: u32| i64::from(pixels.div_ceil(1 << TILE_LOG2));
        let (columns, rows) = (count(width), count(height));
        let DepthRange { min, max } = DepthRange::UNKNOWN;
        let reset_to = [min, max].map(|depth| AtomicU32::new(depth.to_bits()));
        let extent = [width, height].map(i64::from);
        let tiles = (0..columns * rows).map(|_| OnceLock::new()).collect();
        let heuristic = Mutex::new(HizHeuristic::new(hiz));
        Self { tiles, hiz, columns, extent, resets: AtomicU32::new(0), reset_to, gains: AtomicU32::new(0), heuristic }
    }

    /// Returns the bounds of the tile in a column and row, whose depths are unknown.
    fn unknown(&self, place: [i64; 2]) -> Bounds {
        let ([x, y], side) = (place.map(|tile| tile << TILE_LOG2), 1 << TILE_LOG2);
        let pixels = within([x, y, x + side, y + side], [0, 0, self.extent[0], self.extent[1]]);
        Bounds::new(DepthRange::UNKNOWN, pixels, self.hiz)
    }

    /// Returns width and height in pixels.
    pub fn extent(&self) -> [i64; 2] {
        self.extent
    }

    /// Returns the estimate whether tests in front of the tiler pay.
    pub fn heuristic(&self) -> MutexGuard<'_, HizHeuristic> {
        self.heuristic.lock()
    }

    /// Returns the number of tiles.
    pub fn tiles(&self) -> usize {
        self.tiles.len()
    }

    /// Returns the number of uses of tiles in which depths became known to be nearer. It wraps.
    pub fn gains(&self) -> u32 {
        self.gains.load(Ordering::Relaxed)
    }

    /// Returns the bounds of the tile of a pixel, or `None` outside of the image.
    pub fn tile(&self, pixel: [i64; 2]) -> Option<BoundsInUse<'_>> {
        let tile = self.tiles.get(self.number(pixel)?)?;
        let unknown = || Box::new(Mutex::new(self.unknown(pixel.map(|pixel| pixel >> TILE_LOG2))));
        let mut bounds = tile.get_or_init(unknown).lock();
        let resets = self.resets.load(Ordering::Relaxed);
        if bounds.resets != resets {
            bounds.reset(self.reset_to(), resets);
        }
        Some(BoundsInUse { bounds, gains: &self.gains })
    }

    /// Returns the number of the tile of a pixel, or `None` left or right of the image or above it.
    fn number(&self, pixel: [i64; 2]) -> Option<usize> {
        let [column, row] = pixel.map(|pixel| pixel >> TILE_LOG2);
        let is_inside = (0..self.columns).contains(&column);
        if is_inside { usize::try_from(row * self.columns + column).ok() } else { None }
    }

    /// Returns the range of the last reset.
    fn reset_to(&self) -> DepthRange {
        let [min, max] = self.reset_to.each_ref().map(|depth| f32::from_bits(depth.load(Ordering::Relaxed)));
        DepthRange { min, max }
    }

    /// Returns what is known of the tile of a pixel, or `None` outside of the image.
    ///
    /// Bounds that no worker has used since the last reset of all tiles remain as they are.
    pub fn known(&self, pixel: [i64; 2]) -> Option<KnownTile<'_>> {
        let tile = self.tiles.get(self.number(pixel)?)?.get().map(|tile| tile.lock());
        let current = tile.filter(|tile| tile.resets == self.resets.load(Ordering::Relaxed));
        Some(current.map_or_else(|| KnownTile::Reset(self.reset_to()), KnownTile::Used))
    }

    /// Notes that the depths of the pixels of a rectangle became `depth`, as the image stores it.
    /// No worker may be using a tile.
    pub fn clear(&self, area: [i64; 4], depth: f32) {
        let image = [0, 0, self.extent[0], self.extent[1]];
        let area = within(area, image);
        if area == image {
            return self.reset(DepthRange::of(depth));
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
    fn reset(&self, range: DepthRange) {
        for (word, depth) in self.reset_to.iter().zip([range.min, range.max]) {
            word.store(depth.to_bits(), Ordering::Relaxed);
        }
        self.resets.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
