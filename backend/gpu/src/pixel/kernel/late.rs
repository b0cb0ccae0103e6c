//! Late tests: fragments are tested after a program that discards, or that writes depth or the
//! sample mask.
//!
//! If the program does not write depth, the test result is computed before it, and the program
//! runs only if any pixel passes. Stores of depth follow the program. Lanes that discard their
//! fragment only record that and keep running, because the next pixels use all lanes again.
//!
//! Late kernels process groups of 8x8 pixels of one primitive. Primitive kernels and mixed kernels
//! include late tests of short programs.

use vitric_exec::Program;
use vitric_exec::format_ir::clamped;
use vitric_ir::interface::Builtin;
use vitric_ir::{BinaryOp as B, Inst, Type, UnaryOp as U, Value};

use super::direct::{self, Pixels};
use super::traits::{Depths, Event, bytes_of, is_late, stores_depths_apart};
use super::{Attachment, Linker, Outputs, Stage, written};
use crate::state::{MultisampleState, PipelineState};

/// Returns true if late tests of a program can work with stored depths of `depth_bits` bits.
pub(super) fn serves(pipeline: &PipelineState, (program, depth_bits): (&Program, u32)) -> bool {
    !is_late(pipeline, program) || program.fragment.writes_depth || stores_depths_apart(pipeline, (program, depth_bits))
}

/// Links the kernel of a pipeline for groups with late tests, or returns `None` if quads must be
/// tested one by one.
///
/// With `counts`, the kernel has one output word: the number of exported fragments, equal in all
/// lanes.
pub(super) fn link(pipeline: &PipelineState, (depth_bits, counts): (u32, bool)) -> Option<Stage> {
    let (program, attachments) = (pipeline.fragment.as_deref()?, written(pipeline));
    if !serves(pipeline, (program, depth_bits)) || !direct::serves_late(pipeline, &attachments) {
        return None;
    }
    let mut linker = Linker::of_strips();
    let depth = Depths { bits: depth_bits, plane: attachments.len() };
    let planes = bytes_of(&attachments).chain([depth.bytes()]);
    let exported = counts.then(|| linker.zeroed());
    linker.each_covered_strip(pipeline.multisample.samples, planes, |linker, pixels| {
        linker.shade_late((pipeline, program), (&attachments, &depth), pixels, &mut |linker, event, left| {
            if let (Some(exported), Event::Exported) = (exported, event) {
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
    /// Shades covered pixels, tests them and writes those that pass. Calls `see` with the pixels
    /// that the program runs for, and with those that are written.
    pub(super) fn shade_late(
        &mut self,
        (pipeline, program): (&PipelineState, &Program),
        (attachments, depth): (&[Attachment], &Depths),
        pixels: Pixels,
        see: &mut dyn FnMut(&mut Self, Event, Value),
    ) {
        let (own_depth, state) = (program.output_builtin(Builtin::FragDepth, 0), &pipeline.multisample);
        let known = own_depth.is_none().then(|| self.left((pipeline, program), &pixels, depth));
        let covered = known.as_ref().map_or(&pixels.covered, |left| &left.covered);
        let (shaded, runs) = (self.some(covered), known.as_ref().map(|left| self.any(&left.covered)));
        runs.iter().for_each(|&condition| self.b.push(Inst::If { condition }));
        see(self, Event::Shaded, shaded);
        self.ended = Some(self.zeroed());
        let words = self.run((program, state), (&pixels, None));
        let left = match known {
            Some(left) => {
                let covered = self.kept((program, state), &words, &left.covered);
                left.with(covered)
            }
            None => {
                let pixels = Pixels { covered: self.kept((program, state), &words, &pixels.covered), ..pixels.clone() };
                self.left_with((pipeline, program), &pixels, depth, own_depth.map(|word| words[word]))
            }
        };
        self.ended = None;
        let exported = self.some(&left.covered);
        see(self, Event::Exported, exported);
        let samples = 0..state.samples;
        self.write((program, &words), attachments, &Pixels { covered: left.covered.clone(), ..pixels }, samples);
        self.store_depths(&left);
        runs.iter().for_each(|_| self.b.push(Inst::EndIf));
    }

    /// Returns the covered samples that remain after discards, the sample mask and
    /// alpha-to-coverage of the program.
    fn kept(
        &mut self,
        (program, state): (&Program, &MultisampleState),
        words: &[Value],
        covered: &[Value],
    ) -> Vec<Value> {
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
