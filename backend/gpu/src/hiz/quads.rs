//! Tests of the 2x2 quads of a group against the bounds of the group, all sixteen at once. Four
//! hidden quads may be a block of 4x4 pixels.
//!
//! The structure has no bounds of quads, only those of the group and of its nearer layer. A
//! primitive with a slope in depth may lie behind them in some quads only. Quads are numbered in
//! the order of a group's bits, four pixels each.

use vitric_base::simd::{each, highest_bits, kernel, ones};

use super::{DepthDirection, DepthFormat};
use crate::raster::Shape;

/// Bounds of a group, as nearness.
#[derive(Debug, Clone, Copy)]
pub(super) struct GroupBounds {
    /// Bound of all pixels.
    pub(super) all: f32,
    /// Bound of the pixels of the nearer layer.
    pub(super) layer: f32,
    /// Mask of the quads with pixels that are not in the layer.
    pub(super) outside_layer: u32,
}

/// Depths of a primitive over the quads of a group.
#[derive(Clone, Copy)]
struct QuadDepths {
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
fn hidden_lanes(depths: &QuadDepths, GroupBounds { all, layer, outside_layer }: GroupBounds) -> u32 {
    let hidden = each(|lane| {
        // The operations are those of depths of samples, so no sample is nearer.
        let along =
            |step: usize, axis: usize| depths.pixel[axis] + step as f32 - depths.reference[axis] + depths.at[axis];
        let (x, y) = (along(lane % 4 * 2, 0), along(lane / 4 * 2, 1));
        let depth = depths.origin + depths.slopes[0] * x + depths.slopes[1] * y;
        let depth = depth.max(depths.range[0]).min(depths.range[1]);
        let bound = if outside_layer >> lane & 1 != 0 { all } else { layer };
        ones(depth * depths.sign - depths.rounding > bound)
    });
    highest_bits(&hidden).into()
}

kernel!(
    /// Returns the quads whose nearest depth lies behind the bound of the layer, or behind that of
    /// all pixels if the quad has pixels outside of the layer.
    hidden_in, hidden_lanes, (depths: &QuadDepths, bounds: GroupBounds) -> u32
);

/// Returns the mask of quads of which any pixel is in `pixels`.
pub(super) fn quads_of(pixels: u64) -> u32 {
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

/// Returns the pixels of the quads in which a primitive is hidden. `origin` is the first pixel of
/// the group.
pub(super) fn hidden(
    direction: DepthDirection,
    bounds: GroupBounds,
    shape: &Shape,
    origin: [i64; 2],
    format: DepthFormat,
) -> u64 {
    let sign = direction.nearness(1.0);
    let [first, last] = if format.samples == 1 { [0.5, 0.5] } else { [0.0, 1.0] };
    let slopes = [shape.depth.dx, shape.depth.dy];
    // Where depths grow, the nearest place comes first.
    let grows = slopes.map(|slope| slope * sign >= 0.0);
    let pixel = [0, 1].map(|axis: usize| (origin[axis] + i64::from(!grows[axis])) as f32);
    let at = grows.map(|grows| if grows { first } else { last });
    let rounding = if format.bits == 32 { 0.0 } else { 1.0 / ((1u32 << format.bits) - 1) as f32 };
    let (origin, reference, range) = (shape.depth.origin, shape.reference, shape.depth_range);
    let depths = QuadDepths { origin, slopes, reference, pixel, at, range, sign, rounding };
    pixels_of(hidden_in(&depths, bounds))
}

/// Returns the number of whole blocks of 4x4 pixels among hidden pixels, and of hidden quads that
/// are in no such block. Blocks have no other pixels of `covered`.
pub fn blocks_and_quads(hidden: u64, covered: u64) -> [u32; 2] {
    let (hidden, left) = (quads_of(hidden & covered), quads_of(covered & !hidden));
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
                assert_eq!(quads_of(pixels & single), quads);
            }
        }
        assert_eq!(blocks_and_quads(u64::MAX, u64::MAX), [4, 0]);
        let [block, quad] = [pixels_of(0b11_0011), pixels_of(0b100)];
        assert_eq!(blocks_and_quads(block | quad, u64::MAX), [1, 1]);
        assert_eq!(blocks_and_quads(quad, quad), [1, 0]);
        assert_eq!(blocks_and_quads(block, 1), [1, 0]);
        assert_eq!(blocks_and_quads(pixels_of(1), pixels_of(0b11)), [0, 1]);
    }

    /// Depths of 1/16, 3/16, ... 15/16 from column to column, against bounds of a group.
    #[test]
    fn quads_and_blocks_behind_a_slope_are_counted() {
        let depth = Plane { origin: 0.0, dx: 1.0 / 8.0, dy: 0.0 };
        let shape = Shape { depth, depth_range: [0.0, 1.0], ..Shape::default() };
        let hidden = |all: f32| {
            let bounds = GroupBounds { all, layer: all, outside_layer: 0 };
            let format = DepthFormat { bits: 32, samples: 1 };
            blocks_and_quads(hidden(DepthDirection::Less, bounds, &shape, [0, 0], format), u64::MAX)
        };
        // Quads have their nearest depth at 1/16, 5/16, 9/16 and 13/16.
        assert_eq!([0.0, 0.25, 0.5, 0.75, 0.9].map(hidden), [[4, 0], [2, 4], [2, 0], [0, 4], [0, 0]]);
    }

    proptest! {
        /// Hidden quads lie behind the bounds at every sample.
        #[test]
        fn hidden_quads_are_behind(
            origin in -1.0f32..2.0, slopes in [-0.1f32..0.1, -0.1f32..0.1], bounds in [0.0f32..1.0, 0.0f32..1.0],
            outside in 0u32..0x10000, bits in prop::sample::select(vec![16u32, 24, 32]),
            samples in prop::sample::select(vec![1u32, 2, 4, 8, 16]), greater in any::<bool>(),
        ) {
            let direction = if greater { DepthDirection::Greater } else { DepthDirection::Less };
            let depth = Plane { origin, dx: slopes[0], dy: slopes[1] };
            let shape = Shape { reference: [13.3, 20.9], depth, depth_range: [0.0, 1.0], ..Shape::default() };
            let [all, layer] = bounds.map(|depth| direction.nearness(depth));
            let bounds = GroupBounds { all, layer, outside_layer: outside };
            let hidden = hidden(direction, bounds, &shape, [16, 24], DepthFormat { bits, samples });
            for bit in (0..64).filter(|bit| hidden >> bit & 1 != 0) {
                let pixel = pixel_of_bit(bit);
                let bound = if outside >> (bit / 4) & 1 == 0 { layer } else { all };
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
