//! Group kernels: one run processes the fragments of one primitive in a group of 8x8 pixels, in
//! strips of two rows.
//!
//! One kernel is for partially covered groups. The other is for fully covered groups. The latter
//! has no conditions, so that two strips may be interleaved.

use vitric_ir::passes::pair::Effects;
use vitric_ir::{BinaryOp as B, Inst, Type, UnaryOp as U, Value};

use super::direct::{self, PixelLanes};
use super::traits::{FragmentShading, bytes_of};
use super::{KernelInput, Linker, Stage, Texels, runs_pairs, written};
use crate::state::PipelineState;

/// Strips of a group.
const STRIPS: u32 = 4;

/// Links the kernel of a pipeline for fully covered groups, or returns `None` if groups cannot be
/// shaded at once.
pub(super) fn link_whole(pipeline: &PipelineState) -> Option<Stage> {
    let (program, attachments) = (pipeline.fragment.as_deref()?, written(pipeline));
    if !direct::serves_groups(pipeline, &attachments) {
        return None;
    }
    let samples = direct::samples_of_run(pipeline);
    // Builds a kernel for `waves` interleaved strips.
    let linked = |waves: u32| {
        let mut linker = Linker::of_strips();
        linker.each_strip(waves, |linker, first| {
            let wave = linker.input(KernelInput::Wave, Type::I32);
            let number = linker.b.binary(B::IAdd, first, wave);
            let pixels = linker.strip(number, &[], bytes_of(&attachments));
            linker.shade(FragmentShading { pipeline, program }, &attachments, pixels, samples);
        });
        linker.finish(Some(program)).with_all_lanes()
    };
    let pair = runs_pairs().then(|| linked(2).pair(Effects::Allowed)).flatten();
    Some(pair.unwrap_or_else(|| linked(1).alone()))
}

/// Links the kernel of a pipeline for partially covered groups, or returns `None` if they cannot
/// be shaded at once.
pub(super) fn link(pipeline: &PipelineState) -> Option<Stage> {
    let (program, attachments) = (pipeline.fragment.as_deref()?, written(pipeline));
    if !direct::serves_groups(pipeline, &attachments) {
        return None;
    }
    let mut linker = Linker::of_strips();
    let samples = direct::samples_of_run(pipeline);
    linker.each_covered_strip(samples, bytes_of(&attachments), |linker, pixels| {
        linker.shade(FragmentShading { pipeline, program }, &attachments, pixels, samples);
    });
    Some(linker.finish(Some(program)).with_all_lanes().alone())
}

impl Linker {
    pub(super) fn of_strips() -> Self {
        Self { texels: Texels::Strip, ..Self::default() }
    }

    /// Emits a loop over the strips of a group, `step` at a time. Calls `body` with the number of
    /// the first strip.
    fn each_strip(&mut self, step: u32, body: impl FnOnce(&mut Self, Value)) {
        let (counter, all, step) = (self.b.local(1), self.b.int(STRIPS), self.b.int(step));
        self.b.push(Inst::Loop);
        let number = self.b.local_load(counter, 0, None, Type::I32);
        let ended = self.b.binary(B::ULe, all, number);
        self.b.push(Inst::If { condition: ended });
        self.b.push(Inst::Break { depth: 0 });
        self.b.push(Inst::EndIf);
        body(self, number);
        let next = self.b.binary(B::IAdd, number, step);
        self.b.local_store(counter, 0, None, next);
        self.b.push(Inst::Continuing);
        self.b.push(Inst::EndLoop);
    }

    /// Emits a loop over the strips that have covered pixels, one at a time. Calls `body` with the
    /// pixels of a strip.
    pub(super) fn each_covered_strip(
        &mut self,
        samples: u32,
        planes: impl IntoIterator<Item = u32>,
        body: impl FnOnce(&mut Self, PixelLanes),
    ) {
        self.each_strip(1, |linker, number| {
            let bits: Vec<_> = (0..samples as usize).map(|sample| linker.bits_of_strip(number, sample)).collect();
            let zero = linker.b.int(0);
            let some = bits.iter().fold(zero, |some, &bits| linker.b.binary(B::Or, some, bits));
            let condition = linker.b.binary(B::INe, some, zero);
            linker.b.push(Inst::If { condition });
            let pixels = linker.strip(number, &bits, planes);
            body(linker, pixels);
            linker.b.push(Inst::EndIf);
        });
    }

    /// Returns the pixels of a strip of which a sample is covered, as bits of its lanes.
    fn bits_of_strip(&mut self, number: Value, sample: usize) -> Value {
        let [upper, lower] = [0, 1].map(|half| self.input(KernelInput::Pixels(sample * 2 + half), Type::I32));
        let [one, four, low] = [1, 4, 0xffff].map(|word| self.b.int(word));
        let is_upper = self.b.binary(B::ULe, number, one);
        let half = self.b.select(is_upper, upper, lower);
        let odd = self.b.binary(B::And, number, one);
        let shift = self.b.binary(B::Shl, odd, four);
        let bits = self.b.binary(B::ShrLogical, half, shift);
        self.b.binary(B::And, bits, low)
    }

    /// Returns the pixels of a strip as quads from left to right.
    ///
    /// `bits` are the covered pixels of each sample. If `bits` is empty, all pixels are covered.
    /// `planes` are the bytes of a texel in each plane.
    fn strip(&mut self, number: Value, bits: &[Value], planes: impl IntoIterator<Item = u32>) -> PixelLanes {
        let lane = self.b.lane();
        let [one, four, six] = [1, 4, 6].map(|word| self.b.int(word));
        // Bits 0, 2 and 3 of the lane are x, bit 1 is y.
        let [odd, half] = [self.b.binary(B::And, lane, one), self.b.binary(B::ShrLogical, lane, one)];
        let column = self.b.binary(B::And, half, six);
        let column = self.b.binary(B::Or, column, odd);
        let row = self.b.binary(B::And, half, one);
        let above = self.b.binary(B::Shl, number, one);
        let row = self.b.binary(B::IAdd, row, above);
        let place = [(0, column), (1, row)].map(|(axis, step)| {
            let (corner, step) = (self.input(KernelInput::Corner(axis), Type::F32), self.b.unary(U::SToF, step));
            self.b.binary(B::FAdd, corner, step)
        });
        let first = self.b.binary(B::Shl, number, four);
        let mut texels = Vec::new();
        for (plane, bytes) in planes.into_iter().enumerate() {
            let (line, bytes) = (self.input(KernelInput::Line(plane), Type::I32), self.b.int(bytes));
            let [strip, texel] = [first, lane].map(|texels| self.b.binary(B::IMul, texels, bytes));
            let strip = self.b.binary(B::IAdd, line, strip);
            texels.push(self.b.binary(B::IAdd, strip, texel));
        }
        let covered = |&bits: &Value| {
            let (bit, zero) = (self.b.binary(B::ShrLogical, bits, lane), self.b.int(0));
            let bit = self.b.binary(B::And, bit, one);
            self.b.binary(B::INe, bit, zero)
        };
        let covered = bits.iter().map(covered).collect();
        PixelLanes { place, covered, texels }
    }
}
