//! How large the fragments of a draw are: what its state, its primitives and an attachment say together.
//!
//! Source: Vulkan specification, "Fragment Shading Rates".

use std::sync::Arc;

use vitric_exec::Program;
use vitric_memory::PlaneRef;

use crate::geometry::Words;
use crate::raster::Shape;
use crate::raster::{Rate, RateState, SIDE};
use crate::state::PipelineState;

/// Sizes of the fragments of a draw, some of which may be more than a pixel.
pub struct Rates<'a> {
    state: RateState,
    samples: u32,
    /// Word of primitives that says something.
    primitive: Option<u32>,
    /// An attachment's texels, and the pixels along the sides of what each is for, as powers of two.
    attachment: Option<(PlaneRef<'a>, [u32; 2])>,
}

impl<'a> Rates<'a> {
    /// Of draws with a pipeline, with state and maybe an attachment with pixels along the sides of what a texel is for. `None` where
    /// every fragment is a pixel.
    pub fn new(
        pipeline: &PipelineState,
        state: RateState,
        attachment: Option<(PlaneRef<'a>, [u32; 2])>,
    ) -> Option<Self> {
        // Nor are there interlocks of fragments that are more.
        let fits = |program: &&Arc<Program>| !pipeline.has_sample_shading() && !program.fragment.interlock;
        let fragment = pipeline.fragment.as_ref().filter(fits)?;
        let primitive = pipeline.gives_rate().then(|| Shape::first_word(fragment.inputs.len()));
        // A group is of one size.
        let log2 = |pixels: u32| pixels.max(SIDE as u32).ilog2();
        let attachment =
            attachment.filter(|(plane, _)| plane.bytes() == 1).map(|(plane, size)| (plane, size.map(log2)));
        let rates = Self { state, samples: pipeline.multisample.samples, primitive, attachment };
        rates.may_be_coarse().then_some(rates)
    }

    /// Whether anything that primitives and texels may say gives more than a pixel.
    fn may_be_coarse(&self) -> bool {
        const ANY: &[Rate] = &Rate::ALL;
        const NONE: &[Rate] = &[Rate::PIXEL];
        let said = |says: bool| if says { ANY } else { NONE };
        let (primitives, texels) = (said(self.primitive.is_some()), said(self.attachment.is_some()));
        let is_coarse = |a: Rate, b: Rate| self.state.combined(a, b, self.samples) != Rate::PIXEL;
        primitives.iter().any(|&primitive| texels.iter().any(|&texel| is_coarse(primitive, texel)))
    }

    /// The size of the fragments of the primitive with these words in the group at a pixel.
    pub(super) fn at(&self, words: Words<'_>, [x, y]: [u32; 2]) -> Rate {
        let primitive = self.primitive.map_or(Rate::PIXEL, |word| Rate::of_word(words.get(word)));
        let texel = self.attachment.as_ref().map_or(Rate::PIXEL, |(plane, log2)| {
            let mut texel = [0];
            plane.read(x >> log2[0], y >> log2[1], 0, &mut texel);
            Rate::of_word(texel[0].into())
        });
        self.state.combined(primitive, texel, self.samples)
    }
}
