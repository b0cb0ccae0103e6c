//! Fragment sizes of a draw, combined from its state, its primitives and an attachment, or read
//! from a density map.
//!
//! Source: Vulkan specification, "Fragment Shading Rates", "Fragment Density Map Operations".

use std::sync::Arc;

use vitric_exec::Program;
use vitric_memory::PlaneRef;

use crate::geometry::PrimitiveWords;
use crate::raster::Shape;
use crate::raster::{DENSITY_TEXEL_SIZES, Rate, RateState, SIDE};
use crate::state::PipelineState;

/// Texels of a rate attachment.
pub struct RateMap<'a> {
    plane: PlaneRef<'a>,
    /// log2 of the width and height in pixels that one texel controls.
    log2: [u32; 2],
    /// Largest fragment size, if the texels are densities.
    densities: Option<Rate>,
}

impl<'a> RateMap<'a> {
    /// Returns the map of texels of one byte that are sizes, given the width and height in pixels
    /// that one texel controls.
    pub fn of_sizes(plane: PlaneRef<'a>, area: [u32; 2]) -> Self {
        // All fragments of a group must have one size.
        Self { plane, log2: area.map(|pixels| pixels.max(SIDE as u32).ilog2()), densities: None }
    }

    /// Returns the map of texels of two bytes that are densities, given the width and height of
    /// the framebuffer over which the map is stretched.
    ///
    /// Fragments are no larger than the part of the framebuffer that belongs to one texel, even if
    /// a texel controls more pixels because of [`DENSITY_TEXEL_SIZES`]. The device then reads one
    /// texel of several.
    pub fn of_densities(plane: PlaneRef<'a>, framebuffer: [u32; 2]) -> Self {
        let texels = [plane.width(), plane.height()];
        let axes = [0, 1].map(|axis| density_texel(framebuffer[axis], texels[axis]));
        let largest = Rate::of_size(axes.map(|(_, largest)| largest));
        Self { plane, log2: axes.map(|(log2, _)| log2), densities: Some(largest) }
    }

    /// Returns the size that the texel of a pixel asks for.
    fn at(&self, [x, y]: [u32; 2]) -> Rate {
        let [x, y] = [x >> self.log2[0], y >> self.log2[1]];
        let Some(largest) = self.densities else {
            let mut texel = [0];
            self.plane.read(x, y, 0, &mut texel);
            return Rate::of_word(texel[0].into());
        };
        // The last texels also control the pixels behind them, because sizes are rounded down.
        let last = [self.plane.width(), self.plane.height()].map(|texels| texels.max(1) - 1);
        let mut texel = [0; 2];
        self.plane.read(x.min(last[0]), y.min(last[1]), 0, &mut texel);
        Rate::of_density(texel).min(largest)
    }
}

/// Returns log2 of the pixels of a framebuffer that a texel of a density map controls along an
/// axis, and the greatest size of its fragments in pixels. The map has a number of texels.
fn density_texel(framebuffer: u32, texels: u32) -> (u32, u32) {
    let [min, max] = DENSITY_TEXEL_SIZES;
    let part = (framebuffer / texels.max(1)).clamp(1, max);
    (part.next_power_of_two().max(min).ilog2(), 1 << part.ilog2())
}

/// Fragment sizes of a draw in which some fragments may be larger than a pixel.
pub struct Rates<'a> {
    state: RateState,
    samples: u32,
    /// Index of the primitive word that contains a rate, if the primitives have one.
    primitive: Option<u32>,
    /// Texels of the rate attachment.
    map: Option<RateMap<'a>>,
}

impl<'a> Rates<'a> {
    /// Returns the rates of draws with a pipeline, or `None` if every fragment is one pixel.
    pub fn new(pipeline: &PipelineState, state: RateState, map: Option<RateMap<'a>>) -> Option<Self> {
        // Interlock and tile images do not support fragments of several pixels.
        let fits = |program: &&Arc<Program>| !pipeline.has_sample_shading() && !program.fragment.interlock;
        let fragment = pipeline.fragment.as_ref().filter(fits)?;
        let primitive = pipeline.gives_rate().then(|| Shape::first_word(fragment.inputs.len()));
        let has_densities = map.as_ref().is_some_and(|map| map.densities.is_some());
        // Neither conservative coverage nor that of Bresenham and smooth lines is supported for
        // fragments that share one set of samples.
        if has_densities && pipeline.criterion().is_some() {
            return None;
        }
        let state = if has_densities { RateState::OF_ATTACHMENT } else { state };
        let rates = Self { state, samples: pipeline.multisample.samples, primitive, map };
        rates.may_be_coarse().then_some(rates)
    }

    /// Returns true if any rate of primitives and texels can result in fragments larger than a
    /// pixel.
    fn may_be_coarse(&self) -> bool {
        const ANY: &[Rate] = &Rate::ALL;
        const NONE: &[Rate] = &[Rate::PIXEL];
        let sizes = |are_given: bool| if are_given { ANY } else { NONE };
        let (primitives, texels) = (sizes(self.primitive.is_some()), sizes(self.map.is_some()));
        let largest = self.map.as_ref().and_then(|map| map.densities).unwrap_or(Rate::ALL[0]);
        let is_coarse = |a: Rate, b: Rate| self.state.combined(a, b.min(largest), self.samples) != Rate::PIXEL;
        primitives.iter().any(|&primitive| texels.iter().any(|&texel| is_coarse(primitive, texel)))
    }

    /// Returns true if the pixels of a fragment share one set of samples. Then each sample has one
    /// bit of the fragment's coverage. Otherwise each sample of each pixel has one.
    ///
    /// Source: Vulkan specification, "Multisampling".
    pub(super) fn has_shared_samples(&self) -> bool {
        self.map.as_ref().is_some_and(|map| map.densities.is_some())
    }

    /// Returns the fragment size of a primitive with the given words, in the group that contains a
    /// pixel.
    pub(super) fn at(&self, words: PrimitiveWords<'_>, place: [u32; 2]) -> Rate {
        let primitive = self.primitive.map_or(Rate::PIXEL, |word| Rate::of_word(words.get(word)));
        let texel = self.map.as_ref().map_or(Rate::PIXEL, |map| map.at(place));
        self.state.combined(primitive, texel, self.samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texels_of_density_maps_control_powers_of_two() {
        let cases = [
            ((64, 8), (3, 8)),
            // The rest of a division belongs to the last texel.
            ((65, 8), (3, 8)),
            ((96, 8), (4, 8)),
            ((24, 8), (3, 2)),
            ((61, 61), (3, 1)),
            ((5, 9), (3, 1)),
            ((16384, 1), (10, 1024)),
            ((7, 0), (3, 4)),
        ];
        for ((framebuffer, texels), expected) in cases {
            assert_eq!(density_texel(framebuffer, texels), expected, "{framebuffer} pixels, {texels} texels");
        }
    }
}
