//! Fragments that are tested behind their program, as it discards some, or writes depths or sample masks of its own.
//!
//! What is discarded is known earlier than what it looks like, and depths of their own are known last: so programs without those run only where
//! any pixel passes its test. Lanes that discard their fragment wait until the others are through, since the next pixels are theirs again.
//!
//! Late kernels shade groups of 8x8 pixels of one primitive so; short programs are parts of primitive and mixed kernels, too.

use vitric_exec::Program;
use vitric_exec::format_ir::clamped;
use vitric_ir::interface::Builtin;
use vitric_ir::{BinaryOp as B, Inst, Type, UnaryOp as U, Value};

use super::direct::{self, Pixels};
use super::traits::{Depths, Event, bytes_of, is_late, stores_depths_apart};
use super::{Attachment, Linker, Outputs, Stage, written};
use crate::state::{MultisampleState, PipelineState};

/// Whether depths in memory of so many bits can be tested behind a program.
pub(super) fn serves(pipeline: &PipelineState, (program, depth_bits): (&Program, u32)) -> bool {
    !is_late(pipeline, program) || program.fragment.writes_depth || stores_depths_apart(pipeline, (program, depth_bits))
}

/// Links the kernel of a pipeline for groups, with depths of so many bits; `None` where quads must be tested one by one. One that counts has an
/// output word: how many fragments were exported, the same in all lanes.
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
    /// Shades covered pixels, tests them and writes what is left; `see` gets those that the program runs for, and those that are written.
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

    /// Those of covered samples that the program leaves: it ends, or has a mask of them, or an alpha that stands for as many.
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

    /// How many samples an alpha stands for, the first ones: `pixel::wave::alpha_coverage`.
    fn samples_of(&mut self, alpha: Value, samples: u32) -> Value {
        let [samples, half] = [samples as f32, 0.5].map(|number| self.b.float(number));
        let share = clamped(&mut self.b, alpha, 0.0);
        let share = self.b.binary(B::FMul, share, samples);
        let rounded = self.b.binary(B::FAdd, share, half);
        self.b.unary(U::FToU, rounded)
    }
}
