//! Coverage of tiny primitives in a tile, sixteen at a time, in the format of packed pixels.

use vitric_base::simd::{Lanes, Mask, WAVE, highest_bits, kernel, ones};

use super::pixel_queue::{PackedPixel, TINY, TinyBatch};
use crate::hiz::DepthRange;
use crate::raster::Shape;

/// Pixels of a tile that sixteen consecutive primitives may touch, lane by lane.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub(super) struct TinyPrimitives {
    /// Covered pixels of tiny primitives in the clip area: one bit each, row by row of [`TINY`].
    pub(super) pixels: Lanes,
    /// First pixel of each of these bit masks, as a packed pixel.
    pub(super) packed: Lanes,
    /// Bounding rectangle of all tiny primitives: `[x0, y0, x1, y1]`, end exclusive.
    pub(super) window: [i32; 4],
    /// Range of the minimum depths of tiny primitives and range of their maximum depths, each as
    /// encoded by [`ordered`].
    depths: [[i32; 2]; 2],
    /// Primitives that may touch any pixel.
    pub(super) visible: Mask,
    /// Primitives in `visible` that are tiny.
    pub(super) tiny: Mask,
}

/// Converts bits of a float other than NaN to an integer of the same order, and back.
#[inline(always)]
fn ordered(bits: i32) -> i32 {
    bits ^ (bits >> 31 & i32::MAX)
}

impl TinyPrimitives {
    /// Returns the range of the minimum depths of tiny primitives, and the range of their maximum
    /// depths.
    pub(super) fn depths(&self) -> [DepthRange; 2] {
        let depth = |bits: i32| f32::from_bits(ordered(bits) as u32);
        self.depths.map(|[min, max]| DepthRange { min: depth(min), max: depth(max) })
    }

    /// Returns the pixels of the primitives in `lanes`.
    #[inline]
    pub(super) fn batch(&self, lanes: Mask) -> TinyBatch<'_> {
        TinyBatch { firsts: &self.packed, pixels: &self.pixels, lanes }
    }

    /// Examines sixteen primitives, given by their words. `clip` are the pixels of the tile that
    /// may be touched, `[x0, y0, x1, y1]`.
    ///
    /// If set-up has clipped pixels to viewports (`cuts`), primitives whose corners are far apart
    /// are not tiny.
    #[inline]
    pub(super) fn examine(&mut self, words: &[Lanes], clip: [i64; 4], cuts: bool) {
        let words = words.first_chunk().expect("every primitive has these words");
        examine(self, words, &clip.map(|bound| bound as i32), cuts);
    }
}

/// Mask of a coordinate's bits in the tile.
const PLACE: i32 = (1 << PackedPixel::PLACE_BITS) - 1;

#[inline(always)]
fn examine_lanes(tinies: &mut TinyPrimitives, words: &[Lanes; Shape::WORDS], clip: &[i32; 4], cuts: bool) {
    let tiny = TINY as i32;
    let (mut visible, mut tiny_ones) = ([0; WAVE], [0; WAVE]);
    // Lanes without a tiny primitive must not change the minima and maxima.
    let (mut first, mut last) = ([[i32::MAX; WAVE]; 2], [[i32::MIN; WAVE]; 2]);
    let (mut least, mut greatest) = ([[i32::MAX; WAVE]; 2], [[i32::MIN; WAVE]; 2]);
    for lane in 0..WAVE {
        let word = |word: u32| words[word as usize][lane] as i32;
        let [x0, y0, x1, y1] =
            [word(Shape::PIXELS), word(Shape::PIXELS + 1), word(Shape::PIXELS + 2), word(Shape::PIXELS + 3)];
        let (left, top, right, bottom) = (x0.max(clip[0]), y0.max(clip[1]), x1.min(clip[2]), y1.min(clip[3]));
        let corner = |corner: u32, axis: u32| word(Shape::CORNERS + 2 * corner + axis);
        let reach = |axis: u32| {
            let (a, b, c) = (corner(0, axis), corner(1, axis), corner(2, axis));
            a.max(b).max(c).wrapping_sub(a.min(b).min(c))
        };
        let is_wide = cuts & ((reach(0) >= Shape::WIDE as i32) | (reach(1) >= Shape::WIDE as i32));
        let is_visible = (left < right) & (top < bottom);
        let is_tiny = is_visible & (x1 - x0 <= tiny) & (y1 - y0 <= tiny) & !is_wide;
        (visible[lane], tiny_ones[lane]) = (ones(is_visible), ones(is_tiny));

        let skipped = (left - x0 + tiny * (top - y0)) & 15;
        let rows = (1u32 << ((tiny * (bottom - top)) & 31)).wrapping_sub(1);
        let columns = (1u32 << ((right - left) & 31)).wrapping_sub(1).wrapping_mul(0x1111);
        tinies.pixels[lane] = words[Shape::COVERED as usize][lane] >> skipped & rows & columns;
        tinies.packed[lane] = ((left & PLACE) << PackedPixel::X
            | (top & PLACE) << PackedPixel::Y
            | (lane as i32) << PackedPixel::OF) as u32;
        let tiny_mask = -i32::from(is_tiny);
        (first[0][lane], first[1][lane]) =
            (left & tiny_mask | i32::MAX & !tiny_mask, top & tiny_mask | i32::MAX & !tiny_mask);
        (last[0][lane], last[1][lane]) =
            (right & tiny_mask | i32::MIN & !tiny_mask, bottom & tiny_mask | i32::MIN & !tiny_mask);
        for end in 0..2 {
            let depth = ordered(word(Shape::DEPTHS + end as u32));
            least[end][lane] = depth & tiny_mask | i32::MAX & !tiny_mask;
            greatest[end][lane] = depth & tiny_mask | i32::MIN & !tiny_mask;
        }
    }
    let min = |lanes: &[i32; WAVE]| lanes.iter().fold(i32::MAX, |least, &lane| least.min(lane));
    let max = |lanes: &[i32; WAVE]| lanes.iter().fold(i32::MIN, |greatest, &lane| greatest.max(lane));
    tinies.window = [min(&first[0]), min(&first[1]), max(&last[0]), max(&last[1])];
    tinies.depths = [[min(&least[0]), max(&greatest[0])], [min(&least[1]), max(&greatest[1])]];
    (tinies.visible, tinies.tiny) = (highest_bits(&visible), highest_bits(&tiny_ones));
}

kernel!(
    /// Examines the pixels of a tile that sixteen primitives may touch.
    examine, examine_lanes, (tinies: &mut TinyPrimitives, words: &[Lanes; Shape::WORDS], clip: &[i32; 4], cuts: bool)
);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Generates a primitive: its bounding pixels, its coverage mask, and whether its corners are
    /// far apart.
    fn primitive() -> impl Strategy<Value = ([i32; 4], u16, bool)> {
        (-10i32..80, -10i32..80, 0i32..7, 0i32..7, any::<u16>(), any::<bool>())
            .prop_map(|(x, y, width, height, covered, wide)| ([x, y, x + width, y + height], covered, wide))
    }

    proptest! {
        #[test]
        fn every_lane_is_told_as_defined(
            primitives in prop::collection::vec(primitive(), WAVE),
            first in (0i64..3, 0i64..3), corners in prop::array::uniform4(0i64..=64), cuts: bool,
            depths in prop::collection::vec(prop::array::uniform2(-2.0f32..2.0), WAVE),
        ) {
            let tile = [first.0 * 64, first.1 * 64];
            let [a, b, c, d] = corners;
            let clip = [tile[0] + a.min(b), tile[1] + c.min(d), tile[0] + a.max(b), tile[1] + c.max(d)];
            let mut words = [[0; WAVE]; Shape::WORDS];
            let far = Shape::WIDE as u32;
            for (lane, (pixels, covered, wide)) in primitives.iter().enumerate() {
                for (axis, pixel) in pixels.iter().enumerate() {
                    words[Shape::PIXELS as usize + axis][lane] = (pixel + tile[axis & 1] as i32) as u32;
                }
                words[Shape::COVERED as usize][lane] = (*covered).into();
                words[Shape::CORNERS as usize + 3][lane] = if *wide { far } else { far - 1 };
            }
            for (lane, depths) in depths.iter().enumerate() {
                (0..2).for_each(|end| words[Shape::DEPTHS as usize + end][lane] = depths[end].to_bits());
            }
            let (mut all, mut ranges): (_, [Option<[f32; 2]>; 2]) = (None, [None; 2]);
            let mut tinies = TinyPrimitives::default();
            tinies.examine(&words, clip, cuts);
            for (lane, (pixels, covered, wide)) in primitives.iter().enumerate() {
                let own: [i64; 4] = std::array::from_fn(|axis| i64::from(pixels[axis]) + tile[axis & 1]);
                let window = crate::raster::within(own, clip);
                let is_visible = window[0] < window[2] && window[1] < window[3];
                let is_tiny = is_visible && own[2] - own[0] <= TINY && own[3] - own[1] <= TINY && !(cuts && *wide);
                prop_assert_eq!(tinies.visible >> lane & 1 != 0, is_visible);
                prop_assert_eq!(tinies.tiny >> lane & 1 != 0, is_tiny);
                if !is_tiny {
                    continue;
                }
                let place = |axis: usize| (window[axis] - tile[axis]) as u32;
                prop_assert_eq!(PackedPixel::place(tinies.packed[lane]), [place(0), place(1)]);
                prop_assert_eq!(tinies.packed[lane] >> PackedPixel::OF, lane as u32);
                all = Some(all.map_or(window, |all: [i64; 4]| {
                    [all[0].min(window[0]), all[1].min(window[1]), all[2].max(window[2]), all[3].max(window[3])]
                }));
                for (end, range) in ranges.iter_mut().enumerate() {
                    let depth = depths[lane][end];
                    *range = range.map_or(Some([depth; 2]), |[low, high]| Some([low.min(depth), high.max(depth)]));
                }
                for bit in 0..16 {
                    let [x, y] = [window[0] + bit % TINY, window[1] + bit / TINY];
                    let is_inside = x < window[2] && y < window[3];
                    let expected = is_inside && covered >> (x - own[0] + TINY * (y - own[1])) & 1 != 0;
                    prop_assert_eq!(tinies.pixels[lane] >> bit & 1 != 0, expected);
                }
            }
            if let (Some(all), [Some(low), Some(high)]) = (all, ranges) {
                prop_assert_eq!(tinies.window.map(i64::from), all);
                prop_assert_eq!(tinies.depths(), [low, high].map(|[min, max]| DepthRange { min, max }));
            }
        }
    }
}
