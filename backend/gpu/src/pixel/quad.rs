//! A 2x2 quad of one primitive, its coverage, and its depth and stencil tests.

use super::DrawContext;
use super::depth_group::DepthPlane;
use super::depth_stencil::{self, QuadSample, TestValues};
use super::depths::{depth_in_range, depths_of_quad, sample_place};
use super::{PrimitiveId, TileView};
use crate::raster;

/// Quads in a wave.
pub(super) const QUADS: usize = 4;

/// Bits of coverage for each pixel.
pub(super) const MAX_SAMPLES: usize = raster::MAX_SAMPLES as usize;

/// Mask of the first sample of each pixel in a quad.
const LOW_BITS: u64 = 0x0001_0001_0001_0001;

/// Returns the pixels whose lowest bit is set. No other bits may be set.
#[inline]
fn low_bits(coverage: u64) -> u32 {
    // The product gathers the four bits in adjacent places.
    (coverage.wrapping_mul(1 << 48 | 1 << 33 | 1 << 18 | 1 << 3) >> 48) as u32 & 15
}

/// Depths and stencil references that a fragment program wrote for the tests of its pixels.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ShaderDepthStencil {
    pub(super) depth: Option<[f32; 4]>,
    /// Reference values of the stencil test.
    pub(super) stencil: Option<[u32; 4]>,
}

/// A quad of 2x2 pixels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Quad {
    pub(super) primitive: PrimitiveId,
    pub(super) x: u32,
    pub(super) y: u32,
    /// Covered samples: 16 bits for each of the pixels (0,0) (1,0) (0,1) (1,1).
    coverage: u64,
}

impl Quad {
    /// Returns a quad from the covered pixels of each sample.
    pub(super) fn of_samples(primitive: PrimitiveId, place: [u32; 2], samples: impl Iterator<Item = u64>) -> Self {
        let mut quad = Self::of_pixels(primitive, place, 0);
        for (sample, pixels) in samples.enumerate() {
            quad.coverage |= Self::of_pixels(primitive, place, pixels).coverage << sample;
        }
        quad
    }

    /// Returns the pixels of which a sample is covered.
    #[inline]
    pub(super) fn pixels_at(&self, sample: u32) -> u32 {
        low_bits(self.coverage >> sample & LOW_BITS)
    }

    /// Returns a quad of one sample a pixel, from its covered pixels.
    #[inline]
    pub(super) fn of_pixels(primitive: PrimitiveId, [x, y]: [u32; 2], pixels: u64) -> Self {
        let spread = pixels | pixels << 15 | pixels << 30 | pixels << 45;
        Self { primitive, x, y, coverage: spread & LOW_BITS }
    }

    /// Returns true if the quad lies in the group of 8x8 pixels whose first pixel is `[x, y]`.
    #[inline]
    pub(super) fn is_in_group(&self, [x, y]: [u32; 2]) -> bool {
        (self.x ^ x | self.y ^ y) < raster::SIDE as u32
    }

    /// Returns the covered samples of a pixel.
    #[inline]
    pub(super) fn samples(&self, pixel: usize) -> u32 {
        (self.coverage >> (pixel * MAX_SAMPLES)) as u32 & 0xffff
    }

    /// Returns the pixels of which any sample is covered.
    #[inline]
    pub(super) fn pixels(&self) -> u32 {
        const LOW: u64 = 0x7fff_7fff_7fff_7fff;
        // The highest bit of each pixel becomes set if the pixel has any sample.
        let any = (self.coverage | ((self.coverage & LOW) + LOW)) & !LOW;
        low_bits(any >> (MAX_SAMPLES - 1))
    }

    /// Returns the number of covered samples in all pixels.
    pub(super) fn count(&self) -> u64 {
        u64::from(self.coverage.count_ones())
    }

    /// Removes the samples of a pixel that are not in `mask`.
    pub(super) fn restrict(&mut self, pixel: usize, mask: u32) {
        self.coverage &= !(u64::from(!mask & 0xffff) << (pixel * MAX_SAMPLES));
    }

    /// Removes one sample of some pixels.
    fn drop_at(&mut self, sample: u32, pixels: u32) {
        self.coverage &= !(Self::of_pixels(0, [self.x, self.y], pixels.into()).coverage << sample);
    }

    /// Returns the quad with only one sample left, for shading by sample.
    pub(super) fn of_sample(self, sample: u32) -> Self {
        Self { coverage: self.coverage & LOW_BITS << sample, ..self }
    }

    /// Returns the position of one of the pixels, 0 to 3.
    pub(super) fn pixel(&self, number: usize) -> (u32, u32) {
        (self.x + (number as u32 & 1), self.y + (number as u32 >> 1))
    }

    /// Returns true if another quad lies at the same place.
    pub(super) fn is_at(&self, other: &Self) -> bool {
        (self.x, self.y) == (other.x, other.y)
    }

    /// Returns true if four quads form two rows of a group.
    #[inline]
    pub(super) fn lie_in_strip(quads: &[Self]) -> bool {
        let &[first, ref others @ .., _] = quads else { return false };
        let in_place = |(number, quad): (u32, &Self)| (quad.x, quad.y) == (first.x + number * 2, first.y);
        let last = quads[quads.len() - 1];
        quads.len() == QUADS && first.x.is_multiple_of(8) && (1..).zip(others.iter().chain([&last])).all(in_place)
    }

    /// Returns true if four quads form two rows of a group and all pixels are covered, with one
    /// sample a pixel.
    #[inline]
    pub(super) fn are_strip(quads: &[Self]) -> bool {
        Self::lie_in_strip(quads) && quads.iter().all(|quad| quad.coverage == LOW_BITS)
    }

    /// Runs depth and stencil tests on all covered samples and removes those that fail. Returns
    /// the number of samples left.
    ///
    /// `written` are the values that the program wrote.
    pub(super) fn test(&mut self, context: &DrawContext<'_>, view: &TileView<'_>, written: ShaderDepthStencil) -> u64 {
        if context.tests.is_none() {
            return self.count();
        }
        let shape = &view.shape(self.primitive);
        let depth = written.depth.map(|depths| depths.map(|depth| depth_in_range(shape, depth)));
        let samples = context.multisample.samples;
        if let (Some(state), Some(plane)) = (context.depth_alone, &context.depth)
            && plane.bytes() == 4
        {
            let place = [self.x, self.y];
            for sample in 0..samples {
                let at = if samples == 1 { [0.5; 2] } else { sample_place(&context.locations, sample) };
                let (pixels, depths) =
                    (self.pixels_at(sample), depth.unwrap_or_else(|| depths_of_quad(shape, place, at)));
                if pixels != 0 {
                    let plane = DepthPlane { plane, bits: context.depth_bits };
                    let left = depth_stencil::test_quad(&state, plane, QuadSample { place, sample, pixels }, depths);
                    self.drop_at(sample, pixels & !left);
                }
            }
            return self.count();
        }
        let place = [self.x, self.y];
        for sample in 0..samples {
            let pixels = self.pixels_at(sample);
            if pixels != 0 {
                let at = sample_place(&context.locations, sample);
                let depths = depth.unwrap_or_else(|| depths_of_quad(shape, place, at));
                let tested = TestValues { depths, front: shape.front, references: written.stencil };
                let left = depth_stencil::test(context, QuadSample { place, sample, pixels }, tested);
                self.drop_at(sample, pixels & !left);
            }
        }
        self.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Quad {
        /// Returns a quad from the covered samples of each pixel.
        fn new(primitive: PrimitiveId, [x, y]: [u32; 2], coverage: [u32; 4]) -> Self {
            let coverage =
                coverage.iter().rev().fold(0, |bits, &samples| bits << MAX_SAMPLES | u64::from(samples & 0xffff));
            Self { primitive, x, y, coverage }
        }
    }

    #[test]
    fn coverage_by_pixels_and_samples() {
        let mut quad = Quad::of_pixels(7, [2, 4], 0b1011);
        assert_eq!(quad, Quad::new(7, [2, 4], [1, 1, 0, 1]));
        assert_eq!((quad.pixels(), quad.count(), quad.pixel(3)), (0b1011, 3, (3, 5)));
        quad.restrict(1, 2);
        assert_eq!([0, 1, 2, 3].map(|pixel| quad.samples(pixel)), [1, 0, 0, 1]);
        let quad = Quad::new(0, [0, 0], [0b1111, 0b0110, 0, 0x8000]);
        assert_eq!(quad.of_sample(2), Quad::new(0, [0, 0], [4, 4, 0, 0]));
        assert_eq!((quad.of_sample(15).pixels(), quad.pixels_at(1), quad.pixels_at(0)), (0b1000, 0b0011, 0b0001));
        assert_eq!(Quad::of_samples(0, [0, 0], [1, 3, 3, 1].into_iter()).samples(0), 0b1111);
        for pixels in 0..16u32 {
            let coverage = [0, 1, 2, 3].map(|pixel| if pixels >> pixel & 1 != 0 { 0x9001 << pixel } else { 0 });
            assert_eq!(Quad::new(0, [0, 0], coverage).pixels(), pixels);
        }
    }

    #[test]
    fn strips_are_two_whole_rows_of_a_group() {
        let strip = [0, 2, 4, 6].map(|x| Quad::of_pixels(0, [8 + x, 6], 15));
        assert!(Quad::are_strip(&strip));
        let mut other = strip;
        other[2] = Quad::of_pixels(0, [12, 6], 7);
        assert!(!Quad::are_strip(&other) && Quad::lie_in_strip(&other));
        assert!(!Quad::lie_in_strip(&strip[..3]) && !Quad::lie_in_strip(&[]));
        assert!(!Quad::are_strip(&strip.map(|quad| Quad::of_pixels(0, [quad.x + 2, quad.y], 15))));
    }
}
