//! Group kernels: the fragments of one primitive in a group of 8x8 pixels by one run, two rows after two rows, straight into the
//! attachments.
//!
//! All lanes run; those that are not covered are helpers, which write nothing. That serves small primitives best as long as the
//! program is short: otherwise quads of several primitives are packed into full waves.

use super::inputs::Inputs;
use super::{Attachment, FragmentLinker, Linker, Outputs, Source, Stage, written};
use crate::shader::ir::{BinaryOp as B, Function, Inst, Space, Type, UnaryOp as U, Value};
use crate::shader::passes::pair;
use crate::shader::{Builtin, Program, Slot, link};
use crate::state::GraphicsPipeline;

/// Instructions of a program beyond which waves are better packed.
const LONGEST: usize = 160;

/// Words of locals, likewise.
const MOST_LOCALS: u32 = 32;

/// Bytes of a texel.
const TEXEL: usize = 4;

/// Two rows of a group, one lane a pixel.
pub(super) struct Strip {
    /// The pixel's x and y.
    pub(super) pixel: [Value; 2],
    /// Byte of the strip in its group; the same in all lanes.
    start: Value,
    /// Byte of the lane's texel in the strip.
    texel: Value,
    /// Whether the pixel is covered.
    covered: Value,
}

/// Links the kernel of a pipeline; `None` where groups cannot be shaded at once, or should not.
pub(super) fn link(pipeline: &GraphicsPipeline) -> Option<Stage> {
    let (program, attachments) = (pipeline.fragment.as_deref()?, written(pipeline));
    let words = attachments.iter().all(|attachment| attachment.export.info.bytes as usize == TEXEL);
    if pipeline.multisample.samples > 1 || pipeline.multisample.alpha_to_coverage || !words || !is_short(program) {
        return None;
    }
    let mut linker = Linker::default();
    let counter = linker.b.local(1);
    linker.b.push(Inst::Loop);
    let number = linker.b.local_load(counter, 0, None, Type::I32);
    let [one, four] = [1, 4].map(|word| linker.b.int(word));
    let ended = linker.b.binary(B::ULe, four, number);
    linker.b.push(Inst::If { condition: ended });
    linker.b.push(Inst::Break { depth: 0 });
    linker.b.push(Inst::EndIf);
    let pixels = linker.pixels_of_strip(number);
    let zero = linker.b.int(0);
    let any = linker.b.binary(B::INe, pixels, zero);
    linker.b.push(Inst::If { condition: any });
    linker.strip = Some(linker.strip(number, pixels));
    linker.shade(program, &attachments);
    linker.b.push(Inst::EndIf);
    let next = linker.b.binary(B::IAdd, number, one);
    linker.b.local_store(counter, 0, None, next);
    linker.b.push(Inst::Continuing);
    linker.b.push(Inst::EndLoop);
    Some(linker.finish(Some(program)).stage)
}

/// Whether a program is short, and whether it has the same results whatever lanes run with it.
fn is_short(program: &Program) -> bool {
    let Function { insts, locals, .. } = program.code.function();
    let facts = &program.fragment;
    let changes = facts.may_discard || facts.writes_depth || facts.writes_sample_mask || facts.side_effects;
    let sees_coverage = |slot| matches!(slot, Slot::Builtin(Builtin::SampleMask | Builtin::HelperInvocation, _));
    let is_costly = |inst: &Inst| {
        let sees_lanes = matches!(inst, Inst::Ballot { .. } | Inst::Shuffle { .. });
        sees_lanes
            || matches!(inst, Inst::Loop | Inst::Image(_))
            || !matches!(inst, Inst::Interpolate { .. }) && pair::parts_waves(inst)
            || pair::has_effect(inst)
    };
    insts.len() <= LONGEST
        && locals.iter().sum::<u32>() <= MOST_LOCALS
        && !changes
        && !program.inputs.iter().any(|input| sees_coverage(input.slot))
        && !insts.iter().any(is_costly)
}

impl Linker {
    /// The covered pixels of a strip, as bits of its lanes.
    fn pixels_of_strip(&mut self, number: Value) -> Value {
        let [upper, lower] = [0, 1].map(|half| self.input(Source::Pixels(half), Type::I32));
        let [one, four, low] = [1, 4, 0xffff].map(|word| self.b.int(word));
        let is_upper = self.b.binary(B::ULe, number, one);
        let half = self.b.select(is_upper, upper, lower);
        let odd = self.b.binary(B::And, number, one);
        let shift = self.b.binary(B::Shl, odd, four);
        let pixels = self.b.binary(B::ShrLogical, half, shift);
        self.b.binary(B::And, pixels, low)
    }

    /// Where a strip's pixels lie.
    fn strip(&mut self, number: Value, pixels: Value) -> Strip {
        let lane = self.b.value(Type::I32);
        self.b.push(Inst::Lane { result: lane });
        let [one, two, six] = [1, 2, 6].map(|word| self.b.int(word));
        // Quads from left to right: bits 0, 2 and 3 of the lane are x, bit 1 is y.
        let [odd, half] = [self.b.binary(B::And, lane, one), self.b.binary(B::ShrLogical, lane, one)];
        let column = self.b.binary(B::And, half, six);
        let column = self.b.binary(B::Or, column, odd);
        let row = self.b.binary(B::And, half, one);
        let above = self.b.binary(B::Shl, number, one);
        let row = self.b.binary(B::IAdd, row, above);
        let pixel = [(0, column), (1, row)].map(|(axis, step)| {
            let (corner, step) = (self.input(Source::Corner(axis), Type::F32), self.b.unary(U::SToF, step));
            self.b.binary(B::FAdd, corner, step)
        });
        let bits = self.b.int(6);
        let (start, texel) = (self.b.binary(B::Shl, number, bits), self.b.binary(B::Shl, lane, two));
        let bit = self.b.binary(B::ShrLogical, pixels, lane);
        let bit = self.b.binary(B::And, bit, one);
        let zero = self.b.int(0);
        let covered = self.b.binary(B::INe, bit, zero);
        Strip { pixel, start, texel, covered }
    }

    /// The fragment program on a strip, and what it writes.
    fn shade(&mut self, program: &Program, attachments: &[Attachment]) {
        let inputs = Inputs::new(program, false, (false, 1));
        let words = link::append_anew(&mut FragmentLinker { linker: self, inputs }, program);
        let outputs = Outputs::new(program);
        let mut texels = Vec::new();
        for (number, attachment) in attachments.iter().enumerate() {
            let (space, place) = (Space::Range(number as u32), self.place_in(number));
            let stored = |linker: &mut Self, _| linker.b.load(space, place, Type::I32);
            if let Some(texel) = self.texel(attachment, (&outputs, &words), stored) {
                texels.push((space, place, texel[0]));
            }
        }
        let Some(strip) = &self.strip else { return };
        self.b.push(Inst::If { condition: strip.covered });
        for (space, offset, value) in texels {
            self.b.push(Inst::Store { space, offset, value });
        }
        self.b.push(Inst::EndIf);
    }

    /// Byte of the lane's texel in a target's plane.
    fn place_in(&mut self, target: usize) -> Value {
        let line = self.input(Source::Line(target), Type::I32);
        let Some(Strip { start, texel, .. }) = self.strip else { return line };
        let strip = self.b.binary(B::IAdd, line, start);
        self.b.binary(B::IAdd, strip, texel)
    }
}
