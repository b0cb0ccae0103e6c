//! Tests of the 2x2 quads of a group against the bounds of the group, all sixteen at once. Four
//! hidden quads may be a block of 4x4 pixels.
//!
//! The structure has no bounds of quads, only those of the group and of its nearer layer. A
//! primitive with a slope in depth may lie behind them in some quads only. Quads are numbered in
//! the order of a group's bits, four pixels each.

use vitric_base::simd::{each, highest_bits, kernel, ones};

use super::Direction;
use crate::raster::Shape;

/// Depths of a primitive over a group.
#[derive(Clone, Copy)]
struct Lean {
    origin: f32,
    slopes: [f32; 2],
    reference: [f32; 2],
    /// Pixel of the first quad where the primitive is nearest, and the place in the pixel.
    pixel: [f32; 2],
    at: [f32; 2],
    range: [f32; 2],
    /// Factor from depth to nearness, 1 or -1.
    sign: f32,
    /// Distance by which a stored depth may be nearer than the computed one.
    rounding: f32,
}

#[inline(always)]
fn hidden_lanes(lean: &Lean, [far, layer]: [f32; 2], outside: u32) -> u32 {
    let hidden = each(|lane| {
        // The operations are those of depths of samples, so no sample is nearer.
        let along = |step: usize, axis: usize| lean.pixel[axis] + step as f32 - lean.reference[axis] + lean.at[axis];
        let (x, y) = (along(lane % 4 * 2, 0), along(lane / 4 * 2, 1));
        let depth = lean.origin + lean.slopes[0] * x + lean.slopes[1] * y;
        let depth = depth.max(lean.range[0]).min(lean.range[1]);
        let bound = if outside >> lane & 1 != 0 { far } else { layer };
        ones(depth * lean.sign - lean.rounding > bound)
    });
    highest_bits(&hidden).into()
}

kernel!(
    /// Returns the quads whose nearest depth lies behind a bound: that of the group in quads of
    /// `outside`, that of its layer in others.
    hidden_in, hidden_lanes, (lean: &Lean, bounds: [f32; 2], outside: u32) -> u32
);

/// Returns the mask of quads of which any pixel is in `pixels`.
pub(super) fn named(pixels: u64) -> u32 {
    let any = (pixels | pixels >> 1 | pixels >> 2 | pixels >> 3) & 0x1111_1111_1111_1111;
    // Every fourth bit is moved to every bit: two, four, then eight at a time.
    let pairs = (any | any >> 3) & 0x0303_0303_0303_0303;
    let fours = (pairs | pairs >> 6) & 0x000f_000f_000f_000f;
    let eights = (fours | fours >> 12) & 0x0000_00ff_0000_00ff;
    (eights | eights >> 24) as u32 & 0xffff
}

/// Returns the pixels of a mask of quads.
fn pixels_of(quads: u32) -> u64 {
    let quads = u64::from(quads);
    let eights = (quads | quads << 24) & 0x0000_00ff_0000_00ff;
    let fours = (eights | eights << 12) & 0x000f_000f_000f_000f;
    let pairs = (fours | fours << 6) & 0x0303_0303_0303_0303;
    ((pairs | pairs << 3) & 0x1111_1111_1111_1111) * 0xf
}

/// Returns the pixels of the quads in which a primitive is hidden. `bounds` are those of the group
/// and of its layer, as nearness. Quads of `outside` have pixels that are not in the layer.
pub(super) fn hidden(
    direction: Direction,
    bounds: [f32; 2],
    outside: u32,
    (shape, place): (&Shape, [i64; 2]),
    (depth_bits, samples): (u32, u32),
) -> u64 {
    let sign = direction.nearness(1.0);
    let [first, last] = if samples == 1 { [0.5, 0.5] } else { [0.0, 1.0] };
    let slopes = [shape.depth.dx, shape.depth.dy];
    // Where depths grow, the nearest place comes first.
    let grows = slopes.map(|slope| slope * sign >= 0.0);
    let pixel = [0, 1].map(|axis: usize| (place[axis] + i64::from(!grows[axis])) as f32);
    let at = grows.map(|grows| if grows { first } else { last });
    let rounding = if depth_bits == 32 { 0.0 } else { 1.0 / ((1u32 << depth_bits) - 1) as f32 };
    let (origin, reference, range) = (shape.depth.origin, shape.reference, shape.depth_range);
    let lean = Lean { origin, slopes, reference, pixel, at, range, sign, rounding };
    pixels_of(hidden_in(&lean, bounds, outside))
}

/// Returns the number of whole blocks of 4x4 pixels among hidden pixels, and of hidden quads that
/// are in no such block. Blocks have no other pixels of `covered`.
pub fn blocks_and_quads(hidden: u64, covered: u64) -> [u32; 2] {
    let (hidden, left) = (named(hidden & covered), named(covered & !hidden));
    let mut counts = [0; 2];
    for block in [0, 2, 8, 10].map(|first| 0b11_0011u32 << first) {
        let (own, others) = (hidden & block, left & block);
        match own != 0 && others == 0 {
            true => counts[0] += 1,
            false => counts[1] += own.count_ones(),
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::raster::Plane;
    use crate::raster::{pixel_of_bit, sample_positions};
    use vitric_format::stored_depth;

    #[test]
    fn quads_are_pixels_four_at_a_time() {
        for quads in [0, 1, 2, 0x8000, 0x1234, 0xffff, 0xa5c3] {
            let pixels = pixels_of(quads);
            assert_eq!(pixels.count_ones(), quads.count_ones() * 4);
            for single in [0x1111_1111_1111_1111, 0x8888_8888_8888_8888, 0x4212_8421_1248_2481u64] {
                assert_eq!(named(pixels & single), quads);
            }
        }
        assert_eq!(blocks_and_quads(u64::MAX, u64::MAX), [4, 0]);
        let [block, quad] = [pixels_of(0b11_0011), pixels_of(0b100)];
        assert_eq!(blocks_and_quads(block | quad, u64::MAX), [1, 1]);
        assert_eq!(blocks_and_quads(quad, quad), [1, 0]);
        assert_eq!(blocks_and_quads(block, 1), [1, 0]);
        assert_eq!(blocks_and_quads(pixels_of(1), pixels_of(0b11)), [0, 1]);
    }

    proptest! {
        /// Hidden quads lie behind the bounds at every sample.
        #[test]
        fn hidden_quads_are_behind(
            origin in -1.0f32..2.0, slopes in [-0.1f32..0.1, -0.1f32..0.1], bounds in [0.0f32..1.0, 0.0f32..1.0],
            outside in 0u32..0x10000, bits in prop::sample::select(vec![16u32, 24, 32]),
            samples in prop::sample::select(vec![1u32, 2, 4, 8, 16]), greater in any::<bool>(),
        ) {
            let direction = if greater { Direction::Greater } else { Direction::Less };
            let depth = Plane { origin, dx: slopes[0], dy: slopes[1] };
            let shape = Shape { reference: [13.3, 20.9], depth, depth_range: [0.0, 1.0], ..Shape::default() };
            let bounds = bounds.map(|depth| direction.nearness(depth));
            let hidden = hidden(direction, bounds, outside, (&shape, [16, 24]), (bits, samples));
            for bit in (0..64).filter(|bit| hidden >> bit & 1 != 0) {
                let pixel = pixel_of_bit(bit);
                let bound = bounds[usize::from(outside >> (bit / 4) & 1 == 0)];
                for place in sample_positions(samples) {
                    let at = [16, 24].iter().zip(pixel).zip(place).zip(shape.reference);
                    let at: Vec<f32> = at.map(|(((first, pixel), units), reference)| {
                        (first + pixel) as f32 - reference + *units as f32 / 256.0
                    }).collect();
                    let depth = stored_depth(bits, shape.depth.at(at[0], at[1]).clamp(0.0, 1.0));
                    prop_assert!(direction.nearness(depth) > bound);
                }
            }
        }
    }
}
