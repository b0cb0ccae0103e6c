//! Fragment sizes of a draw, combined from its state, its primitives and an attachment.
//!
//! Source: Vulkan specification, "Fragment Shading Rates".

use std::sync::Arc;

use vitric_exec::Program;
use vitric_memory::PlaneRef;

use crate::geometry::PrimitiveWords;
use crate::raster::Shape;
use crate::raster::{Rate, RateState, SIDE};
use crate::state::PipelineState;

/// Fragment sizes of a draw in which some fragments may be larger than a pixel.
pub struct Rates<'a> {
    state: RateState,
    samples: u32,
    /// Index of the primitive word that contains a rate, if the primitives have one.
    primitive: Option<u32>,
    /// Texels of the rate attachment, and log2 of the width and height in pixels that one texel
    /// controls.
    attachment: Option<(PlaneRef<'a>, [u32; 2])>,
}

impl<'a> Rates<'a> {
    /// Returns the rates of draws with a pipeline, or `None` if every fragment is one pixel.
    ///
    /// The attachment comes with the width and height in pixels that one texel controls.
    pub fn new(
        pipeline: &PipelineState,
        state: RateState,
        attachment: Option<(PlaneRef<'a>, [u32; 2])>,
    ) -> Option<Self> {
        // Interlock and tile images do not support fragments of several pixels.
        let fits = |program: &&Arc<Program>| !pipeline.has_sample_shading() && !program.fragment.interlock;
        let fragment = pipeline.fragment.as_ref().filter(fits)?;
        let primitive = pipeline.gives_rate().then(|| Shape::first_word(fragment.inputs.len()));
        // All fragments of a group must have one size.
        let log2 = |pixels: u32| pixels.max(SIDE as u32).ilog2();
        let attachment =
            attachment.filter(|(plane, _)| plane.bytes() == 1).map(|(plane, size)| (plane, size.map(log2)));
        let rates = Self { state, samples: pipeline.multisample.samples, primitive, attachment };
        rates.may_be_coarse().then_some(rates)
    }

    /// Returns true if any rate of primitives and texels can result in fragments larger than a
    /// pixel.
    fn may_be_coarse(&self) -> bool {
        const ANY: &[Rate] = &Rate::ALL;
        const NONE: &[Rate] = &[Rate::PIXEL];
        let said = |says: bool| if says { ANY } else { NONE };
        let (primitives, texels) = (said(self.primitive.is_some()), said(self.attachment.is_some()));
        let is_coarse = |a: Rate, b: Rate| self.state.combined(a, b, self.samples) != Rate::PIXEL;
        primitives.iter().any(|&primitive| texels.iter().any(|&texel| is_coarse(primitive, texel)))
    }

    /// Returns the fragment size of a primitive with the given words, in the group that contains a
    /// pixel.
    pub(super) fn at(&self, words: PrimitiveWords<'_>, [x, y]: [u32; 2]) -> Rate {
        let primitive = self.primitive.map_or(Rate::PIXEL, |word| Rate::of_word(words.get(word)));
        let texel = self.attachment.as_ref().map_or(Rate::PIXEL, |(plane, log2)| {
            let mut texel = [0];
            plane.read(x >> log2[0], y >> log2[1], 0, &mut texel);
            Rate::of_word(texel[0].into())
        });
        self.state.combined(primitive, texel, self.samples)
    }
}
