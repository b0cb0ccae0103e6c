//! Packed pixels: pixels of tiny primitives, which wait until they fill a mixed wave.
//!
//! A wave of them runs as one, so no two of its lanes may have the same pixel: where primitives meet in one, later ones wait for the next
//! wave. So the packed pixels of each pixel keep their order; others need none.

use vitric_base::simd::{Lanes, Mask, WAVE, append_steps, kernel};

use crate::raster::Shape;
use crate::raster::TILE_LOG2;

/// Most pixels along each axis that a primitive may touch whose pixels are handed on as packed pixels.
pub const TINY: i64 = Shape::COVERED_SIDE as i64;

/// A tiny primitive's pixels: a bit each, row after row of [`TINY`].
pub type TinyPixels = u16;

/// A pixel of a tile, and of which of sixteen primitives it is, as a word.
pub struct PackedPixel;

impl PackedPixel {
    /// Bits of a place along an axis of the tile.
    pub const PLACE_BITS: u32 = TILE_LOG2;
    /// First bit of the pixel's x.
    pub const X: u32 = 0;
    /// First bit of its y.
    pub const Y: u32 = Self::PLACE_BITS;
    /// First of four bits that name the primitive.
    pub const OF: u32 = 2 * Self::PLACE_BITS;
    /// Bits of the place.
    pub const PLACE: u32 = (1 << Self::OF) - 1;
    /// No pixel: negative.
    pub const NONE: u32 = 1 << 31;

    /// The pixel in its tile.
    pub fn place(packed_pixel: u32) -> [u32; 2] {
        [Self::X, Self::Y].map(|first| packed_pixel >> first & ((1 << Self::PLACE_BITS) - 1))
    }
}

/// How far a tiny primitive's pixels are from its first one, as packed pixels.
static PIXELS: Lanes = {
    let (mut lanes, mut lane) = ([0; WAVE], 0);
    while lane < WAVE as u32 {
        lanes[lane as usize] = (lane % TINY as u32) << PackedPixel::X | (lane / TINY as u32) << PackedPixel::Y;
        lane += 1;
    }
    lanes
};

/// What packed pixels come as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Pixels.
    Pixel,
    /// All four of a quad, those beside covered ones as no pixels: for programs that look at how values change.
    Quad,
}

impl Unit {
    const fn pixel_queue(self) -> usize {
        match self {
            Self::Pixel => 1,
            Self::Quad => 4,
        }
    }
}

/// Packed pixels that wait, in the order of their primitives.
#[derive(Debug)]
pub struct PixelQueue {
    unit: Unit,
    /// Those that wait lie from `start` to `end`.
    pixel_queue: [u32; CAPACITY],
    start: usize,
    end: usize,
}

/// Room for the pixels of sixteen tiny primitives beside those that wait, and for what is written behind the last ones.
const CAPACITY: usize = WAVE + WAVE * WAVE + WAVE;

impl Default for PixelQueue {
    fn default() -> Self {
        Self { unit: Unit::Pixel, pixel_queue: [0; _], start: 0, end: 0 }
    }
}

/// Lanes without a pixel, each different.
const NOTHING: Lanes = {
    let (mut lanes, mut lane) = ([PackedPixel::NONE; WAVE], 0);
    while lane < WAVE {
        lanes[lane] |= lane as u32;
        lane += 1;
    }
    lanes
};

/// Whether two packed pixels name the same place.
fn share_place(a: u32, b: u32) -> bool {
    (a ^ b) & PackedPixel::PLACE == 0
}

/// What words differ in from those so many lanes behind, if that is less than what they differed in before.
#[inline(always)]
fn differ<const DISTANCE: usize>(words: &Lanes, least: &mut Lanes) {
    for lane in 0..WAVE {
        least[lane] = least[lane].min(words[lane] ^ words[(lane + DISTANCE) % WAVE]);
    }
}

#[inline(always)]
fn take_lanes(pixel_queue: &Lanes, count: usize, wave: &mut Lanes) -> bool {
    for lane in 0..WAVE {
        // Without a condition: then all of them are read at once.
        let rest = u32::from(lane < count).wrapping_sub(1);
        wave[lane] = pixel_queue[lane] & !rest | NOTHING[lane] & rest;
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
    /// Makes so many packed pixels, at most a wave, a wave. Says whether any two lanes have the same pixel.
    take, take_lanes, (pixel_queue: &Lanes, count: usize, wave: &mut Lanes) -> bool
);

/// Whether any two quads have the same place.
fn quads_meet(pixel_queue: &[u32]) -> bool {
    let quads = pixel_queue.as_chunks::<4>().0;
    let is_there = |number: usize| quads[..number].iter().any(|quad| share_place(quad[0], quads[number][0]));
    (1..quads.len()).any(is_there)
}

impl PixelQueue {
    /// Says what they come as. None waits.
    pub fn come_as(&mut self, unit: Unit) {
        self.unit = unit;
    }

    /// Lets pixels of a block of 4x4 wait, of which the first one lies here in the tile, as bits in the order of a wave's lanes. Fewer
    /// than a wave wait before.
    #[inline]
    pub fn push_block(&mut self, place: [u32; 2], of: u32, pixels: u16) {
        if self.unit == Unit::Pixel {
            // From quads to rows: the middle bits of a pixel's number change places.
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
                self.pixel_queue[self.end] = place | none;
                self.end += 1;
            }
        }
    }

    /// Lets the pixels of tiny primitives wait, lane by lane, of which the first ones are these: of no more than sixteen in all, and fewer
    /// than a wave of others.
    #[inline]
    pub fn push_lanes(&mut self, firsts: &Lanes, pixels: &Lanes, lanes: Mask) {
        self.end = append_steps((&mut self.pixel_queue, self.end), (firsts, pixels, lanes), &PIXELS);
    }

    /// Lets the pixels of a primitive wait, of which this is the first one. Fewer than a wave wait before.
    #[inline]
    fn push(&mut self, first: u32, pixels: TinyPixels) {
        self.push_lanes(&[first; WAVE], &[pixels.into(); WAVE], 1);
    }

    /// Whether none waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Whether they are enough for a wave.
    #[inline]
    pub fn fill_wave(&self) -> bool {
        self.end - self.start >= WAVE
    }

    /// Makes the next ones of those that wait a wave. What has the pixel of another one before it waits on.
    #[inline]
    pub fn next_wave(&mut self, wave: &mut Lanes) {
        let count = (self.end - self.start).min(WAVE);
        let Some(pixel_queue) = self.pixel_queue[self.start..].first_chunk() else { return };
        // Not word by word: what is stored in parts is long in coming to who takes a whole wave.
        let meet = match (self.unit, take(pixel_queue, count, wave)) {
            (Unit::Pixel, meet) => meet,
            (Unit::Quad, _) => quads_meet(&pixel_queue[..count]),
        };
        if meet {
            let all = *wave;
            *wave = self.part(&all[..count]);
        } else {
            self.start += count;
        }
    }

    /// Makes room behind those that wait, fewer than a wave.
    #[inline]
    pub fn make_room(&mut self) {
        if self.start > 0 {
            self.pixel_queue.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
    }

    /// The first unit at each place among the first ones that wait.
    #[inline(never)]
    fn part(&mut self, first: &[u32]) -> Lanes {
        let (mut wave, mut left, unit) = (NOTHING, NOTHING, self.unit.pixel_queue());
        let (mut taken, mut rest) = (0, 0);
        for (number, pixel_queue) in first.chunks_exact(unit).enumerate() {
            let mut before = first[..number * unit].iter().step_by(unit);
            let (to, count) = match before.all(|&before| !share_place(before, pixel_queue[0])) {
                true => (&mut wave, &mut taken),
                false => (&mut left, &mut rest),
            };
            to[*count..*count + unit].copy_from_slice(pixel_queue);
            *count += unit;
        }
        // Those come first that were before the rest.
        self.start += taken;
        self.pixel_queue[self.start..][..rest].copy_from_slice(&left[..rest]);
        wave
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn next(pixel_queue: &mut PixelQueue) -> Lanes {
        let mut wave = NOTHING;
        pixel_queue.next_wave(&mut wave);
        wave
    }

    proptest! {
        /// Every quad of blocks comes once and whole, covered ones at each place in order, and no place twice in a wave.
        #[test]
        fn quads_stay_whole(blocks in prop::collection::vec((0u32..4, 28u32..30, 0u32..16, any::<u16>()), 0..60)) {
            let (mut pixel_queue, mut waves, mut expected) = (PixelQueue::default(), Vec::new(), Vec::new());
            pixel_queue.come_as(Unit::Quad);
            for (x, y, of, pixels) in blocks {
                let [x, y] = [x * 2, y * 2];
                pixel_queue.push_block([x, y], of, pixels);
                while pixel_queue.fill_wave() {
                    waves.push(next(&mut pixel_queue));
                }
                pixel_queue.make_room();
                let quads = (0..4).map(|quad| ([x + quad % 2 * 2, y + quad / 2 * 2], of, pixels >> (quad * 4) & 15));
                expected.extend(quads.filter(|&(_, _, covered)| covered != 0));
            }
            waves.extend(std::iter::from_fn(|| (!pixel_queue.is_empty()).then(|| next(&mut pixel_queue))));
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

        /// A block's pixels are the same ones as packed pixels, whether they come in a wave's order or in rows.
        #[test]
        fn blocks_are_rows_of_pixels(pixels: u16) {
            let mut pixel_queue = PixelQueue::default();
            pixel_queue.push_block([8, 12], 3, pixels);
            let wave = if pixels == 0 { NOTHING } else { next(&mut pixel_queue) };
            let mut found: Vec<_> = wave.into_iter().filter(|&packed_pixel| packed_pixel < PackedPixel::NONE).map(PackedPixel::place).collect();
            let lanes = (0u32..16).filter(|lane| pixels >> lane & 1 != 0);
            let mut expected: Vec<_> =
                lanes.map(|lane| [8 + (lane & 1) + (lane >> 1 & 2), 12 + (lane >> 1 & 1) + (lane >> 2 & 2)]).collect();
            found.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }

        /// Every packed pixel comes once, those of each pixel in order, and never twice in a wave.
        #[test]
        fn waves_keep_order_and_meet_nowhere(
            primitives in prop::collection::vec((0u32..8, 56u32..64, 0u32..16, any::<u16>()), 0..60), at_once in 1usize..16,
        ) {
            let (mut pixel_queue, mut waves, mut expected) = (PixelQueue::default(), Vec::new(), Vec::new());
            for (number, (x, y, of, pixels)) in primitives.into_iter().enumerate() {
                let pixels = if y > 60 { pixels & ((1 << ((64 - y) * 4)) - 1) } else { pixels };
                pixel_queue.push(x << PackedPixel::X | y << PackedPixel::Y | of << PackedPixel::OF, pixels);
                if number % at_once == 0 {
                    while pixel_queue.fill_wave() {
                        waves.push(next(&mut pixel_queue));
                    }
                    pixel_queue.make_room();
                }
                let bits = (0..16).filter(|bit| pixels >> bit & 1 != 0);
                expected.extend(bits.map(|bit| ([x + bit % 4, y + bit / 4], of)));
            }
            waves.extend(std::iter::from_fn(|| (!pixel_queue.is_empty()).then(|| next(&mut pixel_queue))));
            let mut found = Vec::new();
            for wave in waves {
                let some = || wave.into_iter().filter(|&packed_pixel| packed_pixel < PackedPixel::NONE);
                let places: std::collections::HashSet<_> = some().map(PackedPixel::place).collect();
                prop_assert_eq!(places.len(), some().count());
                found.extend(some().map(|packed_pixel| (PackedPixel::place(packed_pixel), packed_pixel >> PackedPixel::OF)));
            }
            // The order of others is free.
            found.sort_by_key(|&(place, _)| place);
            expected.sort_by_key(|&(place, _)| place);
            prop_assert_eq!(found, expected);
        }
    }
}
