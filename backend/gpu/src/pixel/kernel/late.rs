//! Late tests: fragments are tested after a program that discards, or that writes depth or the
//! sample mask.
//!
//! If the program does not write depth, the test result is computed before it, and the program
//! runs only if any pixel passes. Stores of depth follow the program. Lanes that discard their
//! fragment only record that and keep running, because the next pixels use all lanes again.
//!
//! Late kernels process groups of 8x8 pixels of one primitive. Primitive kernels and mixed kernels
//! include late tests of short programs.

use vitric_exec::format_ir::clamped;
use vitric_ir::interface::Builtin;
use vitric_ir::{BinaryOp as B, Inst, Type, UnaryOp as U, Value};

use super::direct::{self, PixelLanes};
use super::traits::{
    DepthTarget, FragmentShading, KernelOptions, KernelPlanes, WaveEvent, bytes_of, is_late, stores_depths_apart,
};
use super::{Linker, Outputs, Stage, written};
use crate::state::PipelineState;

/// Returns true if late tests of a program can work with stored depths of `depth_bits` bits.
pub(super) fn serves(shading: FragmentShading<'_>, depth_bits: u32) -> bool {
    let FragmentShading { pipeline, program } = shading;
    !is_late(pipeline, program) || program.fragment.writes_depth || stores_depths_apart(shading, depth_bits)
}

/// Links the kernel of a pipeline for groups with late tests, or returns `None` if quads must be
/// tested one by one.
///
/// A kernel that counts has one output word: the number of exported fragments, equal in all lanes.
pub(super) fn link(pipeline: &PipelineState, KernelOptions { depth_bits, counts }: KernelOptions) -> Option<Stage> {
    let (program, attachments) = (pipeline.fragment.as_deref()?, written(pipeline));
    let shading = FragmentShading { pipeline, program };
    if !serves(shading, depth_bits) || !direct::serves_late(pipeline, &attachments) {
        return None;
    }
    let mut linker = Linker::of_strips();
    let depth = DepthTarget { bits: depth_bits, plane: attachments.len() };
    let texel_bytes = bytes_of(&attachments).chain([depth.bytes()]);
    let planes = KernelPlanes { attachments: &attachments, depth: &depth };
    let exported = counts.then(|| linker.zeroed());
    linker.each_covered_strip(pipeline.multisample.samples, texel_bytes, |linker, pixels| {
        linker.shade_late(shading, planes, pixels, &mut |linker, event, left| {
            if let (Some(exported), WaveEvent::Exported) = (exported, event) {
                let many = linker.lanes_with(left);
                linker.add(exported, many);
            }
        });
    });
    if let Some(exported) = exported {
        let many = linker.b.local_load(exported, 0, None, Type::I32);
        linker.output(many);
    }
    Some(linker.finish(Some(program)).with_all_lanes().alone())
}

impl Linker {
    /// Shades covered pixels, tests them and writes those that pass. Calls `report` with the pixels
    /// that the program runs for, and with those that are written.
    pub(super) fn shade_late(
        &mut self,
        shading: FragmentShading<'_>,
        KernelPlanes { attachments, depth }: KernelPlanes<'_>,
        pixels: PixelLanes,
        report: &mut dyn FnMut(&mut Self, WaveEvent, Value),
    ) {
        let FragmentShading { pipeline, program } = shading;
        let own_depth = program.output_builtin(Builtin::FragDepth, 0);
        let known = own_depth.is_none().then(|| self.test_depth(shading, &pixels, depth));
        let covered = known.as_ref().map_or(&pixels.covered, |left| &left.covered);
        let (shaded, runs) = (self.some(covered), known.as_ref().map(|left| self.any(&left.covered)));
        runs.iter().for_each(|&condition| self.b.push(Inst::If { condition }));
        report(self, WaveEvent::Shaded, shaded);
        self.ended = Some(self.zeroed());
        let words = self.run(shading, &pixels, None);
        let left = match known {
            Some(left) => {
                let covered = self.kept(shading, &words, &left.covered);
                left.with(covered)
            }
            None => {
                let pixels = PixelLanes { covered: self.kept(shading, &words, &pixels.covered), ..pixels.clone() };
                self.test_given_depth(shading, &pixels, depth, own_depth.map(|word| words[word]))
            }
        };
        self.ended = None;
        let exported = self.some(&left.covered);
        report(self, WaveEvent::Exported, exported);
        let samples = 0..pipeline.multisample.samples;
        self.write((program, &words), attachments, &PixelLanes { covered: left.covered.clone(), ..pixels }, samples);
        self.store_depths(&left);
        runs.iter().for_each(|_| self.b.push(Inst::EndIf));
    }

    /// Returns the covered samples that remain after discards, the sample mask and
    /// alpha-to-coverage of the program.
    fn kept(
        &mut self,
        FragmentShading { pipeline, program }: FragmentShading<'_>,
        words: &[Value],
        covered: &[Value],
    ) -> Vec<Value> {
        let state = &pipeline.multisample;
        let ended = self.ended.map(|ended| self.b.local_load(ended, 0, None, Type::I32));
        let mask = program.output_builtin(Builtin::SampleMask, 0).map(|word| self.b.cast(words[word], Type::I32));
        let alpha = Outputs::new(program).alpha().filter(|_| state.alpha_to_coverage);
        let count = alpha.map(|word| self.samples_of(words[word], state.samples));
        let mut kept = covered.to_vec();
        let mut limit = |linker: &mut Self, sample: usize, condition| {
            kept[sample] = linker.b.binary(B::LogicalAnd, kept[sample], condition);
        };
        let lives = ended.map(|ended| {
            let ended = self.b.unary(U::AsBool, ended);
            self.b.unary(U::LogicalNot, ended)
        });
        for sample in 0..covered.len() {
            if let Some(lives) = lives {
                limit(self, sample, lives);
            }
            if let Some(mask) = mask {
                let bit = self.b.int(1 << sample);
                let bit = self.b.binary(B::And, mask, bit);
                let is_set = self.b.unary(U::AsBool, bit);
                limit(self, sample, is_set);
            }
            if let Some(count) = count {
                let number = self.b.int(sample as u32 + 1);
                let has = self.b.binary(B::ULe, number, count);
                limit(self, sample, has);
            }
        }
        kept
    }

    /// Returns the number of samples for an alpha value. These are the first samples, as in
    /// `pixel::wave::alpha_coverage`.
    fn samples_of(&mut self, alpha: Value, samples: u32) -> Value {
        let [samples, half] = [samples as f32, 0.5].map(|number| self.b.float(number));
        let share = clamped(&mut self.b, alpha, 0.0);
        let share = self.b.binary(B::FMul, share, samples);
        let rounded = self.b.binary(B::FAdd, share, half);
        self.b.unary(U::FToU, rounded)
    }
}
