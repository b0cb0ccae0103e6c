//! Input words of fragment waves.

use vitric_base::simd::{Lanes, WAVE};

use super::DrawContext;
use super::TileView;
use super::depths::sample_place;
use super::kernel::{KernelInput, Target};
use super::quad::{QUADS, Quad};
use crate::geometry::PrimitiveWords;

/// Fragments of a wave: up to four quads, and the sample if each sample is shaded separately.
pub(super) struct WaveFragments<'a> {
    pub(super) context: &'a DrawContext<'a>,
    pub(super) quads: &'a [Quad],
    /// View of the tile that contains the primitives of the quads.
    pub(super) view: &'a TileView<'a>,
    /// Words of each quad's primitive.
    pub(super) words: [PrimitiveWords<'a>; QUADS],
    pub(super) targets: &'a [Target],
    pub(super) sample: Option<u32>,
    /// Quads before their tests, if the program reads that coverage. They include those of
    /// `quads`.
    pub(super) untested: &'a [Quad],
}

impl WaveFragments<'_> {
    /// Fills an input word. Lanes behind the last quad keep undefined values.
    pub(super) fn fill(&self, source: KernelInput, lanes: &mut Lanes) {
        match source {
            KernelInput::Pixel(0) => self.columns(lanes),
            KernelInput::Pixel(_) => self.rows(lanes),
            KernelInput::Place(axis) => lanes.fill(self.sample_place(self.sample.unwrap_or(0))[axis].to_bits()),
            KernelInput::Centroid(axis) => self.each(lanes, |coverage| self.centroid(coverage)[axis].to_bits()),
            KernelInput::Primitive(word) => self.each_quad(lanes, |number| self.words[number].get(word)),
            KernelInput::Coverage if self.untested.is_empty() || self.sample.is_some() => {
                self.each(lanes, |coverage| coverage)
            }
            KernelInput::Coverage => self.coverage_before_tests(lanes),
            KernelInput::Helper => self.each(lanes, |coverage| u32::from(coverage == 0)),
            KernelInput::FullyCovered => self.fully_covered(lanes),
            KernelInput::Sample => lanes.fill(self.sample.unwrap_or(0)),
            KernelInput::BlendConstant(component) => lanes.fill(self.context.blend_constants[component].to_bits()),
            KernelInput::Stored(target, word) => self.stored(&self.targets[target], word, lanes),
            // The other inputs belong to kernels that export directly.
            _ => {}
        }
    }

    /// Fills a word of each lane from its covered samples.
    fn each(&self, lanes: &mut Lanes, word: impl Fn(u32) -> u32) {
        for (lanes, quad) in lanes.as_chunks_mut::<4>().0.iter_mut().zip(self.quads) {
            *lanes = [0, 1, 2, 3].map(|pixel| word(quad.samples(pixel)));
        }
    }

    /// Fills the coverage before tests of each pixel that has samples left.
    #[cold]
    fn coverage_before_tests(&self, lanes: &mut Lanes) {
        for (lanes, quad) in lanes.as_chunks_mut::<4>().0.iter_mut().zip(self.quads) {
            let is_same = |other: &&Quad| other.primitive == quad.primitive && other.is_at(quad);
            let before = self.untested.iter().find(is_same).unwrap_or(quad);
            *lanes = [0, 1, 2, 3].map(|pixel| if quad.samples(pixel) == 0 { 0 } else { before.samples(pixel) });
        }
    }

    /// Fills 1 for pixels that a conservative primitive covers fully, else 0 (`FullyCoveredEXT`).
    #[cold]
    fn fully_covered(&self, lanes: &mut Lanes) {
        for (lanes, quad) in lanes.as_chunks_mut::<4>().0.iter_mut().zip(self.quads) {
            let covers =
                |place| self.context.is_conservative() && self.view.covers_fully(quad.primitive, place, [1; 2]);
            *lanes = [0, 1, 2, 3].map(|pixel| u32::from(covers([quad.x + pixel % 2, quad.y + pixel / 2])));
        }
    }

    /// Fills words that are equal in all lanes of a quad.
    #[inline]
    fn each_quad(&self, lanes: &mut Lanes, word: impl Fn(usize) -> u32) {
        for (number, lanes) in lanes.as_chunks_mut::<4>().0.iter_mut().enumerate().take(self.quads.len()) {
            *lanes = [word(number); 4];
        }
    }

    fn columns(&self, lanes: &mut Lanes) {
        for (lanes, quad) in lanes.as_chunks_mut::<4>().0.iter_mut().zip(self.quads) {
            let [left, right] = [quad.x, quad.x + 1].map(|x| (x as f32).to_bits());
            *lanes = [left, right, left, right];
        }
    }

    fn rows(&self, lanes: &mut Lanes) {
        for (lanes, quad) in lanes.as_chunks_mut::<4>().0.iter_mut().zip(self.quads) {
            let [upper, lower] = [quad.y, quad.y + 1].map(|y| (y as f32).to_bits());
            *lanes = [upper, upper, lower, lower];
        }
    }

    fn sample_place(&self, sample: u32) -> [f32; 2] {
        sample_place(&self.context.locations, sample)
    }

    /// Returns the centre if all samples are covered or none is, else the location of the first
    /// covered sample.
    fn centroid(&self, coverage: u32) -> [f32; 2] {
        let full = (1u32 << self.context.multisample.samples) - 1;
        if coverage == 0 || coverage == full { [0.5; 2] } else { self.sample_place(coverage.trailing_zeros()) }
    }

    /// Fills word `word` of the texels that an attachment stores.
    fn stored(&self, target: &Target, word: usize, lanes: &mut Lanes) {
        let Some(plane) = self.context.color(target) else { return };
        if target.bytes == 4 && plane.samples() == 1 {
            if Quad::lie_in_strip(self.quads) && plane.has_line(self.quads[0].x, self.quads[0].y & !7) {
                *lanes = plane.read_strip(self.quads[0].x, self.quads[0].y, 0);
                return;
            }
            for (lanes, quad) in lanes.as_chunks_mut::<4>().0.iter_mut().zip(self.quads) {
                *lanes = plane.read_quad(quad.x, quad.y, 0);
            }
            return;
        }
        let sample = self.sample.unwrap_or(0);
        for (lane, lane_word) in lanes.iter_mut().enumerate().take(self.quads.len() * 4) {
            let (x, y) = self.quads[lane / 4].pixel(lane % 4);
            let mut bytes = [0; WAVE];
            plane.read(x, y, sample, &mut bytes[..target.bytes]);
            *lane_word = u32::from_le_bytes([0, 1, 2, 3].map(|byte| bytes[word * 4 + byte]));
        }
    }
}
