//! Queue of packed pixels: pixels of tiny primitives that wait for a full wave of a mixed kernel.
//!
//! No two lanes of a wave may address the same pixel. Where primitives overlap, the pixels of
//! later ones wait for the next wave. So packed pixels of one place keep their order. Pixels of
//! different places need none.

use vitric_base::simd::{LaneSteps, Lanes, Mask, WAVE, append_steps, kernel};

use crate::raster::Shape;
use crate::raster::TILE_LOG2;

/// Maximum number of pixels along each axis that a tiny primitive may touch.
pub const TINY: i64 = Shape::COVERED_SIDE as i64;

/// Covered pixels of a tiny primitive: one bit each, row by row of [`TINY`].
pub type TinyPixels = u16;

/// Covered pixels of up to sixteen tiny primitives.
#[derive(Clone, Copy)]
pub struct TinyBatch<'a> {
    /// First pixel of each primitive, as a packed pixel.
    pub firsts: &'a Lanes,
    /// Covered pixels of each primitive, see [`TinyPixels`].
    pub pixels: &'a Lanes,
    /// Mask of the lanes that have a primitive.
    pub lanes: Mask,
}

/// Layout of a packed pixel: a place in the tile and the lane of one of sixteen primitives, in 32
/// bits.
pub struct PackedPixel;

impl PackedPixel {
    /// Bits of a coordinate in the tile.
    pub const PLACE_BITS: u32 = TILE_LOG2;
    /// First bit of the pixel's x.
    pub const X: u32 = 0;
    /// First bit of the pixel's y.
    pub const Y: u32 = Self::PLACE_BITS;
    /// First of the four bits that select the primitive.
    pub const OF: u32 = 2 * Self::PLACE_BITS;
    /// Mask of the place's bits.
    pub const PLACE: u32 = (1 << Self::OF) - 1;
    /// Sign bit, which marks lanes without a pixel.
    pub const NONE: u32 = 1 << 31;

    /// Returns the pixel's x and y in its tile.
    pub fn place(packed_pixel: u32) -> [u32; 2] {
        [Self::X, Self::Y].map(|first| packed_pixel >> first & ((1 << Self::PLACE_BITS) - 1))
    }
}

/// Offsets of a tiny primitive's pixels from its first pixel, in the format of packed pixels.
static PIXELS: Lanes = {
    let (mut lanes, mut lane) = ([0; WAVE], 0);
    while lane < WAVE as u32 {
        lanes[lane as usize] = (lane % TINY as u32) << PackedPixel::X | (lane / TINY as u32) << PackedPixel::Y;
        lane += 1;
    }
    lanes
};

/// Unit in which packed pixels are queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Single pixels.
    Pixel,
    /// Whole quads, with uncovered pixels marked as [`PackedPixel::NONE`]. Programs with
    /// derivatives need them.
    Quad,
}

impl Unit {
    const fn pixel_count(self) -> usize {
        match self {
            Self::Pixel => 1,
            Self::Quad => 4,
        }
    }
}

/// Queue of packed pixels, in the order of their primitives.
#[derive(Debug)]
pub struct PixelQueue {
    unit: Unit,
    /// Queued pixels, from `start` to `end`.
    packed: [u32; CAPACITY],
    start: usize,
    end: usize,
}

/// Capacity in pixels.
///
/// There is room for less than a wave of queued pixels and for the pixels of sixteen tiny
/// primitives. Vector stores may write up to a wave past the end.
const CAPACITY: usize = WAVE + WAVE * WAVE + WAVE;

impl Default for PixelQueue {
    fn default() -> Self {
        Self { unit: Unit::Pixel, packed: [0; _], start: 0, end: 0 }
    }
}

/// A wave without pixels, with a different word in each lane.
const NOTHING: Lanes = {
    let (mut lanes, mut lane) = ([PackedPixel::NONE; WAVE], 0);
    while lane < WAVE {
        lanes[lane] |= lane as u32;
        lane += 1;
    }
    lanes
};

/// Returns true if two packed pixels have the same place.
fn share_place(a: u32, b: u32) -> bool {
    (a ^ b) & PackedPixel::PLACE == 0
}

/// Lowers `least` to the difference (XOR) between each lane and the lane that is `DISTANCE` lanes
/// further.
#[inline(always)]
fn differ<const DISTANCE: usize>(words: &Lanes, least: &mut Lanes) {
    for lane in 0..WAVE {
        least[lane] = least[lane].min(words[lane] ^ words[(lane + DISTANCE) % WAVE]);
    }
}

#[inline(always)]
fn take_lanes(packed: &Lanes, count: usize, wave: &mut Lanes) -> bool {
    for lane in 0..WAVE {
        // Branch-free code lets the compiler load all lanes at once.
        let rest = u32::from(lane < count).wrapping_sub(1);
        wave[lane] = packed[lane] & !rest | NOTHING[lane] & rest;
    }
    let (places, mut least) =
        (wave.map(|packed_pixel| packed_pixel & (PackedPixel::PLACE | PackedPixel::NONE)), [u32::MAX; WAVE]);
    differ::<1>(&places, &mut least);
    differ::<2>(&places, &mut least);
    differ::<3>(&places, &mut least);
    differ::<4>(&places, &mut least);
    differ::<5>(&places, &mut least);
    differ::<6>(&places, &mut least);
    differ::<7>(&places, &mut least);
    differ::<8>(&places, &mut least);
    least.into_iter().fold(u32::MAX, u32::min) == 0
}

kernel!(
    /// Copies up to 16 queued pixels into `wave` and returns whether two lanes address the same
    /// pixel.
    take, take_lanes, (packed: &Lanes, count: usize, wave: &mut Lanes) -> bool
);

/// Returns true if any two quads have the same place.
fn quads_meet(packed: &[u32]) -> bool {
    let quads = packed.as_chunks::<4>().0;
    let is_there = |number: usize| quads[..number].iter().any(|quad| share_place(quad[0], quads[number][0]));
    (1..quads.len()).any(is_there)
}

impl PixelQueue {
    /// Returns the unit of queued pixels.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Sets the unit of queued pixels. The queue must be empty.
    pub fn set_unit(&mut self, unit: Unit) {
        self.unit = unit;
    }

    /// Appends pixels of a 4x4 block whose first pixel is at `place` in the tile. Bits of `pixels`
    /// are in the order of a wave's lanes.
    ///
    /// The queue must contain less than a wave.
    #[inline]
    pub fn push_block(&mut self, place: [u32; 2], of: u32, pixels: u16) {
        if self.unit == Unit::Pixel {
            // This changes quad order to row order by swapping the two middle bits of each pixel's
            // number.
            let rows = pixels & 0xc3c3 | (pixels & 0x0c0c) << 2 | (pixels & 0x3030) >> 2;
            return self.push(place[0] << PackedPixel::X | place[1] << PackedPixel::Y | of << PackedPixel::OF, rows);
        }
        for quad in (0..WAVE as u32).step_by(4) {
            let covered = pixels >> quad & 15;
            if covered == 0 {
                continue;
            }
            let [x, y] = [place[0] + (quad >> 1 & 2), place[1] + (quad >> 2 & 2)];
            for pixel in 0..4 {
                let place =
                    (x + (pixel & 1)) << PackedPixel::X | (y + (pixel >> 1)) << PackedPixel::Y | of << PackedPixel::OF;
                let none = if covered >> pixel & 1 != 0 { 0 } else { PackedPixel::NONE };
                self.packed[self.end] = place | none;
                self.end += 1;
            }
        }
    }

    /// Appends the pixels of tiny primitives, lane by lane.
    ///
    /// The queue must contain less than a wave.
    #[inline]
    pub fn push_batch(&mut self, TinyBatch { firsts, pixels, lanes }: TinyBatch<'_>) {
        let appended = LaneSteps { lanes, firsts, masks: pixels, steps: &PIXELS };
        self.end = append_steps(&mut self.packed, self.end, appended);
    }

    /// Appends the pixels of one primitive. `first` is its first pixel.
    ///
    /// The queue must contain less than a wave.
    #[inline]
    fn push(&mut self, first: u32, pixels: TinyPixels) {
        self.push_batch(TinyBatch { firsts: &[first; WAVE], pixels: &[pixels.into(); WAVE], lanes: 1 });
    }

    /// Returns true if no pixel is queued.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Returns true if the queued pixels fill a wave.
    #[inline]
    pub fn fill_wave(&self) -> bool {
        self.end - self.start >= WAVE
    }

    /// Moves the next queued pixels into `wave`. A pixel stays queued if an earlier one of the
    /// wave has its place.
    #[inline]
    pub fn next_wave(&mut self, wave: &mut Lanes) {
        let count = (self.end - self.start).min(WAVE);
        let Some(packed) = self.packed[self.start..].first_chunk() else { return };
        // The wave is copied by vector stores because a vector load after scalar stores would
        // stall.
        let meet = match (self.unit, take(packed, count, wave)) {
            (Unit::Pixel, meet) => meet,
            (Unit::Quad, _) => quads_meet(&packed[..count]),
        };
        if meet {
            let all = *wave;
            *wave = self.part(&all[..count]);
        } else {
            self.start += count;
        }
    }

    /// Moves the remaining pixels, less than a wave, to the front of the buffer.
    #[inline]
    pub fn make_room(&mut self) {
        if self.start > 0 {
            self.packed.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
    }

    /// Splits the first queued units: returns the first unit of each place, and keeps the other
    /// units queued.
    #[inline(never)]
    fn part(&mut self, first: &[u32]) -> Lanes {
        let (mut wave, mut left, unit) = (NOTHING, NOTHING, self.unit.pixel_count());
        let (mut taken, mut rest) = (0, 0);
        for (number, packed) in first.chunks_exact(unit).enumerate() {
            let mut before = first[..number * unit].iter().step_by(unit);
            let (to, count) = match before.all(|&before| !share_place(before, packed[0])) {
                true => (&mut wave, &mut taken),
                false => (&mut left, &mut rest),
            };
            to[*count..*count + unit].copy_from_slice(packed);
            *count += unit;
        }
        // The units that stay queued precede all later ones.
        self.start += taken;
        self.packed[self.start..][..rest].copy_from_slice(&left[..rest]);
        wave
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn next(queue: &mut PixelQueue) -> Lanes {
        let mut wave = NOTHING;
        queue.next_wave(&mut wave);
        wave
    }

    proptest! {
        /// Checks that every covered quad of blocks is returned once and whole, and that quads of
        /// one place keep their order. No wave may contain a place twice.
        #[test]
        fn quads_stay_whole(blocks in prop::collection::vec((0u32..4, 28u32..30, 0u32..16, any::<u16>()), 0..60)) {
            let (mut queue, mut waves, mut expected) = (PixelQueue::default(), Vec::new(), Vec::new());
            queue.set_unit(Unit::Quad);
            for (x, y, of, pixels) in blocks {
                let [x, y] = [x * 2, y * 2];
                queue.push_block([x, y], of, pixels);
                while queue.fill_wave() {
                    waves.push(next(&mut queue));
                }
                queue.make_room();
                let quads = (0..4).map(|quad| ([x + quad % 2 * 2, y + quad / 2 * 2], of, pixels >> (quad * 4) & 15));
                expected.extend(quads.filter(|&(_, _, covered)| covered != 0));
            }
            waves.extend(std::iter::from_fn(|| (!queue.is_empty()).then(|| next(&mut queue))));
            let mut found = Vec::new();
            for wave in waves {
                let first = found.len();
                for quad in wave.as_chunks::<4>().0 {
                    let covered = (0..4).filter(|&pixel| quad[pixel] < PackedPixel::NONE).fold(0, |all, pixel| all | 1 << pixel);
                    if covered == 0 {
                        continue;
                    }
                    let [x, y] = PackedPixel::place(quad[0]);
                    let places = quad.map(PackedPixel::place);
                    prop_assert_eq!(places, [[x, y], [x + 1, y], [x, y + 1], [x + 1, y + 1]]);
                    found.push(([x, y], quad[0] >> PackedPixel::OF & 15, covered));
                }
                let places: std::collections::HashSet<_> = found[first..].iter().map(|&(place, ..)| place).collect();
                prop_assert_eq!(places.len(), found.len() - first);
            }
            found.sort_by_key(|&(place, ..)| place);
            expected.sort_by_key(|&(place, ..)| place);
            prop_assert_eq!(found, expected);
        }

        /// Checks that a block's pixels are queued alike from lane order and from row order.
        #[test]
        fn blocks_are_rows_of_pixels(pixels: u16) {
            let mut queue = PixelQueue::default();
            queue.push_block([8, 12], 3, pixels);
            let wave = if pixels == 0 { NOTHING } else { next(&mut queue) };
            let mut found: Vec<_> = wave.into_iter().filter(|&packed_pixel| packed_pixel < PackedPixel::NONE).map(PackedPixel::place).collect();
            let lanes = (0u32..16).filter(|lane| pixels >> lane & 1 != 0);
            let mut expected: Vec<_> =
                lanes.map(|lane| [8 + (lane & 1) + (lane >> 1 & 2), 12 + (lane >> 1 & 1) + (lane >> 2 & 2)]).collect();
            found.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }

        /// Checks that every packed pixel is returned once, and that pixels of one place keep
        /// their order. No wave may contain a place twice.
        #[test]
        fn waves_keep_order_and_meet_nowhere(
            primitives in prop::collection::vec((0u32..8, 56u32..64, 0u32..16, any::<u16>()), 0..60), at_once in 1usize..16,
        ) {
            let (mut queue, mut waves, mut expected) = (PixelQueue::default(), Vec::new(), Vec::new());
            for (number, (x, y, of, pixels)) in primitives.into_iter().enumerate() {
                let pixels = if y > 60 { pixels & ((1 << ((64 - y) * 4)) - 1) } else { pixels };
                queue.push(x << PackedPixel::X | y << PackedPixel::Y | of << PackedPixel::OF, pixels);
                if number % at_once == 0 {
                    while queue.fill_wave() {
                        waves.push(next(&mut queue));
                    }
                    queue.make_room();
                }
                let bits = (0..16).filter(|bit| pixels >> bit & 1 != 0);
                expected.extend(bits.map(|bit| ([x + bit % 4, y + bit / 4], of)));
            }
            waves.extend(std::iter::from_fn(|| (!queue.is_empty()).then(|| next(&mut queue))));
            let mut found = Vec::new();
            for wave in waves {
                let some = || wave.into_iter().filter(|&packed_pixel| packed_pixel < PackedPixel::NONE);
                let places: std::collections::HashSet<_> = some().map(PackedPixel::place).collect();
                prop_assert_eq!(places.len(), some().count());
                found.extend(some().map(|packed_pixel| (PackedPixel::place(packed_pixel), packed_pixel >> PackedPixel::OF)));
            }
            // Pixels of different places may come in any order.
            found.sort_by_key(|&(place, _)| place);
            expected.sort_by_key(|&(place, _)| place);
            prop_assert_eq!(found, expected);
        }
    }
}
