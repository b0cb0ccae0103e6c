//! Kernels that export themselves: sixteen pixels of one primitive at a time, straight into the attachments.
//!
//! All lanes run; those that are not covered are helpers, which write nothing. That serves short programs best: for others
//! quads of several primitives are packed into full waves.

use vitric_base::simd::WAVE;
use vitric_exec::runtime::frame::LANES_BYTES;
use vitric_exec::{Program, link};
use vitric_ir::interface::{Builtin, InputSlot, Place, Slot};
use vitric_ir::passes::pair;
use vitric_ir::{BinaryOp as B, Function, Inst, Space, Type, Value};

use super::inputs::Inputs;
use super::traits::{TEXEL, is_late};
use super::{Attachment, Form, FragmentLinker, Linker, Outputs, Texels, shades_samples};
use crate::raster::has_all_samples;
use crate::state::{MultisampleState, PipelineState};

/// Instructions of a program beyond which waves are better packed.
const LONGEST: usize = 160;

/// The same of those of all samples, where each is shaded.
const LONGEST_SHADED: usize = 4 * LONGEST;

/// Instructions of a program beyond which waves of whole groups gain nothing, either.
const LONGEST_WHOLE: usize = 4000;

/// Words of locals of short programs.
const MAX_LOCALS: u32 = 32;

/// Most exports that may follow each other in the code: samples of attachments.
const MAX_EXPORTS: u32 = 128;

/// As so many exports counts one that is combined with what is stored.
const COMBINED: u32 = 4;

/// Texels of a line, which hold one sample each.
pub(super) const LINE: u32 = 64;

/// Sixteen pixels of one primitive, one a lane, whole quads.
#[derive(Clone)]
pub(super) struct Pixels {
    /// Their x and y, as floats.
    pub(super) place: [Value; 2],
    /// Whether each is covered, sample by sample; nothing where all are.
    pub(super) covered: Vec<Value>,
    /// Byte of each one's first sample in each target's plane; of the first one's where they are accessed as a block.
    pub(super) texels: Vec<Value>,
}

/// How small primitives of a pipeline are drawn, where not by waves of quads as others are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmallPrimitivePath {
    /// From coverage to export by one kernel, some of whose lanes are idle: programs are short.
    AtOnce,
    /// A kernel tells which pixels are covered and pass their test, a mixed one shades them, with all lanes: programs are long.
    Sieved,
}

/// How small primitives of a pipeline are drawn that writes these attachments; `None` where waves of quads are needed.
pub(super) fn way(pipeline: &PipelineState, attachments: &[Attachment]) -> Option<SmallPrimitivePath> {
    if serves(pipeline, attachments) {
        return Some(SmallPrimitivePath::AtOnce);
    }
    let is_served =
        has_one_sample(pipeline) && has_texels(pipeline, attachments) && !pipeline.multisample.alpha_to_coverage;
    let fits = |program| is_plain(program, Effects::Discards);
    (is_served && pipeline.fragment.as_deref().is_some_and(fits)).then_some(SmallPrimitivePath::Sieved)
}

/// Whether fragments of a program are tested and written when it is known which it discards: then a sieve only looks at depths.
pub fn discards_first(program: &Program) -> bool {
    program.fragment.may_discard && !program.fragment.early_tests
}

/// Whether kernels of a pipeline export themselves, which writes these attachments: where some pixels of blocks may be idle.
pub(super) fn serves(pipeline: &PipelineState, attachments: &[Attachment]) -> bool {
    let multisample = &pipeline.multisample;
    let fits = |program: &Program| {
        // Each sample is shaded where it is known which are left, or all of them together.
        let effects = if is_late(pipeline, program) { Effects::Late } else { Effects::None };
        let by_sample = shades_samples(multisample, Some(program));
        let has_way = !by_sample || effects == Effects::None;
        let times = if by_sample { multisample.samples as usize } else { 1 };
        let is_short = is_short(program) && program.code.function().insts.len() * times <= LONGEST_SHADED;
        is_short && is_plain(program, effects) && has_way
    };
    exports_all(pipeline, attachments) && pipeline.fragment.as_deref().is_none_or(fits)
}

/// The same for groups, whose tests come before the program.
pub(super) fn serves_groups(pipeline: &PipelineState, attachments: &[Attachment]) -> bool {
    let is_long = |program: &Program| program.code.function().insts.len() > LONGEST_WHOLE;
    let fits = |program: &Program| !is_long(program) && is_plain(program, Effects::None);
    exports_all(pipeline, attachments) && pipeline.fragment.as_deref().is_some_and(fits)
}

/// How many samples a run of such a kernel writes: one, which it is told, where each is shaded.
pub(super) fn samples_of_run(pipeline: &PipelineState) -> u32 {
    let by_sample = shades_samples(&pipeline.multisample, pipeline.fragment.as_deref());
    if by_sample { 1 } else { pipeline.multisample.samples }
}

/// The same for groups whose fragments are tested when the program has told which are left, or their depths.
pub(super) fn serves_late(pipeline: &PipelineState, attachments: &[Attachment]) -> bool {
    let fits = |program: &Program| {
        let is_long = program.code.function().insts.len() > LONGEST_WHOLE;
        is_late(pipeline, program) && !is_long && is_plain(program, Effects::Late)
    };
    let by_sample = shades_samples(&pipeline.multisample, pipeline.fragment.as_deref());
    !by_sample && exports_all(pipeline, attachments) && pipeline.fragment.as_deref().is_some_and(fits)
}

/// Whether kernels can export all samples, and that is not too much code.
fn exports_all(pipeline: &PipelineState, attachments: &[Attachment]) -> bool {
    let cost = |attachment: &Attachment| if attachment.export.needs_stored() { COMBINED } else { 1 };
    let exports = pipeline.multisample.samples * attachments.iter().map(cost).sum::<u32>();
    has_texels(pipeline, attachments) && exports <= MAX_EXPORTS
}

pub(super) fn has_one_sample(pipeline: &PipelineState) -> bool {
    pipeline.multisample.samples == 1 && has_all_samples(&pipeline.multisample)
}

/// Whether all texels are such as kernels store, and fragments alone decide on them: parts of a word, one, two or four.
fn has_texels(pipeline: &PipelineState, attachments: &[Attachment]) -> bool {
    let texels = attachments.iter().all(|attachment| matches!(attachment.export.info.bytes, 1 | 2 | 4 | 8 | 16));
    let tests_early = pipeline.fragment.as_deref().is_some_and(|program| program.fragment.early_tests);
    let takes_samples = pipeline.multisample.alpha_to_coverage && tests_early;
    texels && !takes_samples && !pipeline.smooths_lines()
}

fn is_short(program: &Program) -> bool {
    let Function { insts, locals, .. } = program.code.function();
    let is_costly = |inst: &Inst| matches!(inst, Inst::Loop | Inst::Image(_));
    insts.len() <= LONGEST && locals.iter().sum::<u32>() <= MAX_LOCALS && !insts.iter().any(is_costly)
}

/// What a program may do beside computing colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effects {
    None,
    /// It may discard fragments: where it does, the kernel's run ends for their lanes, so it must be of one wave.
    Discards,
    /// It may also write their depth, or which samples of them are covered.
    Late,
}

/// Whether a program only computes colours, the same ones whatever lanes run with it, and has no other effects than these.
fn is_plain(program: &Program, effects: Effects) -> bool {
    let facts = &program.fragment;
    let replaces = (facts.writes_depth || facts.writes_sample_mask) && effects != Effects::Late || facts.writes_stencil;
    let ends = facts.may_discard && effects == Effects::None;
    let changes = ends || replaces || facts.side_effects || facts.post_depth;
    let sees_coverage = |slot| {
        matches!(slot, Slot::Builtin(Builtin::SampleMask | Builtin::HelperInvocation | Builtin::FullyCovered, _))
    };
    let hinders = |inst: &Inst| match inst {
        Inst::Ballot { .. } | Inst::Shuffle { .. } => true,
        Inst::Interpolate { .. } | Inst::Load { .. } | Inst::Kill | Inst::Demote => false,
        inst => pair::parts_waves(inst) || pair::has_effect(inst),
    };
    !changes
        && !program.inputs.iter().any(|input| sees_coverage(input.slot))
        && !program.without_routines().insts.iter().any(hinders)
}

/// Whether a program differs from sample to sample of a pixel, or with the samples that are covered.
pub(super) fn sees_samples(program: &Program) -> bool {
    let sees =
        |input: &InputSlot| input.place != Place::Center || matches!(input.slot, Slot::Builtin(Builtin::SampleMask, _));
    let insts = &program.code.function().insts;
    program.fragment.per_sample
        || program.inputs.iter().any(sees)
        || insts.iter().any(|inst| matches!(inst, Inst::Interpolate { .. }))
}

impl Linker {
    /// The memory of a plane of texels of so many bytes.
    pub(super) fn plane(&self, plane: usize, bytes: u32) -> Space {
        let plane = plane as u32;
        match (self.texels, bytes) {
            (Texels::Quads, TEXEL) => Space::Quads(plane),
            (Texels::Block, TEXEL) => Space::Block(plane),
            _ => Space::Range(plane),
        }
    }

    /// Byte so many bytes behind another one.
    fn behind(&mut self, byte: Value, bytes: u32) -> Value {
        let bytes = self.b.int(bytes);
        self.b.binary(B::IAdd, byte, bytes)
    }

    /// What is stored of texels that are parts of words, so many bytes, at a byte.
    fn stored_part(&mut self, space: Space, first: Value, bytes: u32) -> Value {
        let (word, place) = match self.texels {
            Texels::Strip => self.words_of_strip(space, first, bytes),
            _ => {
                let within = self.b.int(TEXEL - 1);
                let place = self.b.binary(B::And, first, within);
                let offset = self.b.binary(B::ISub, first, place);
                (self.b.load(space, offset, Type::I32), place)
            }
        };
        let [to_bits, mask] = [u8::BITS.ilog2(), (1 << (u8::BITS * bytes)) - 1].map(|word| self.b.int(word));
        let shift = self.b.binary(B::Shl, place, to_bits);
        let part = self.b.binary(B::ShrLogical, word, shift);
        self.b.binary(B::And, part, mask)
    }

    /// The words that texels of a strip are parts of, and the byte of each there. They are loaded side by side.
    fn words_of_strip(&mut self, space: Space, first: Value, bytes: u32) -> (Value, Value) {
        let texels = TEXEL / bytes;
        let [to_word, low, bits, beyond] =
            [texels.ilog2(), texels - 1, bytes.ilog2(), TEXEL - bytes].map(|word| self.b.int(word));
        let lane = self.b.lane();
        let beyond = self.b.binary(B::IMul, lane, beyond);
        let offset = self.b.binary(B::IAdd, first, beyond);
        let words = self.b.load(space, offset, Type::I32);
        let (word, texel) = (self.b.binary(B::ShrLogical, lane, to_word), self.b.binary(B::And, lane, low));
        (self.b.shuffle(words, word), self.b.binary(B::Shl, texel, bits))
    }

    /// Stores the words of texels of so many bytes, the first at a byte.
    fn store(&mut self, space: Space, first: Value, (words, bytes): (&[Value], u32)) {
        for (word, &value) in (0..).zip(words) {
            let offset = self.behind(first, word * TEXEL);
            self.b.push(match bytes {
                1 | 2 => Inst::StorePart { space, offset, value, bytes },
                _ => Inst::Store { space, offset, value },
            });
        }
    }

    /// The same where the texels of all lanes follow each other. What goes to one vector of memory is put side by side, as words that lie
    /// apart are stored one by one.
    fn store_all(&mut self, space: Space, first: Value, words: &[Value]) {
        let (count, lane) = (words.len() as u32, self.b.lane());
        let [bits, low, bytes] = [count.ilog2(), count - 1, (count - 1) * TEXEL].map(|word| self.b.int(word));
        let (texel, part) = (self.b.binary(B::ShrLogical, lane, bits), self.b.binary(B::And, lane, low));
        let before = self.b.binary(B::IMul, lane, bytes);
        let vector = self.b.binary(B::ISub, first, before);
        for number in 0..count {
            let texel = self.behind(texel, number * WAVE as u32 / count);
            let mut value = self.b.shuffle(words[0], texel);
            for (word, &other) in (0..).zip(words).skip(1) {
                let (other, word) = (self.b.shuffle(other, texel), self.b.int(word));
                let is_it = self.b.binary(B::IEq, part, word);
                value = self.b.select(is_it, other, value);
            }
            let offset = self.behind(vector, number * LANES_BYTES as u32);
            self.b.push(Inst::Store { space, offset, value });
        }
    }

    /// The fragment program on some pixels, and what it writes to so many samples.
    pub(super) fn shade(
        &mut self,
        (program, state): (&Program, &MultisampleState),
        attachments: &[Attachment],
        pixels: Pixels,
        samples: u32,
    ) {
        let words = self.run((program, state), (&pixels, None));
        self.write((program, &words), attachments, &pixels, 0..samples);
    }

    /// The same sample by sample, each on its own; `see` gets the pixels of which one is shaded.
    pub(super) fn shade_samples(
        &mut self,
        (program, state): (&Program, &MultisampleState),
        attachments: &[Attachment],
        pixels: &Pixels,
        see: &mut dyn FnMut(&mut Self, Value),
    ) {
        for (sample, &covered) in (0..).zip(&pixels.covered) {
            let any = self.any(&[covered]);
            self.b.push(Inst::If { condition: any });
            see(self, covered);
            let words = self.run((program, state), (pixels, Some(sample)));
            self.write((program, &words), attachments, pixels, sample..sample + 1);
            self.b.push(Inst::EndIf);
        }
    }

    /// The output words of the fragment program on some pixels, or on a sample of theirs.
    pub(super) fn run(
        &mut self,
        (program, state): (&Program, &MultisampleState),
        (Pixels { place, covered, .. }, sample): (&Pixels, Option<u32>),
    ) -> Vec<Value> {
        (self.place, self.covered) = (Some(*place), covered.clone());
        // One that is not known here is an input.
        let by_sample = sample.is_none() && shades_samples(state, Some(program));
        let inputs = Inputs::new(program, Form::Alone, (by_sample, state)).of_sample(sample).that_vary(self.varies);
        let words = link::append_anew(&mut FragmentLinker { linker: self, inputs }, program);
        self.place = None;
        words
    }

    /// Writes what the fragment program gives to some samples of the attachments.
    pub(super) fn write(
        &mut self,
        (program, words): (&Program, &[Value]),
        attachments: &[Attachment],
        Pixels { covered, texels, .. }: &Pixels,
        samples: std::ops::Range<u32>,
    ) {
        let outputs = Outputs::new(program);
        let mut fresh = |attachment: &Attachment| match attachment.export.needs_stored() {
            true => None,
            false => self.texel(attachment, (&outputs, words), |linker, _| linker.b.int(0)),
        };
        let fresh: Vec<_> = attachments.iter().map(&mut fresh).collect();
        for sample in samples {
            let place = |linker: &mut Self, (target, attachment): (usize, &Attachment)| {
                let bytes = attachment.export.info.bytes;
                (linker.plane(target, bytes), linker.behind(texels[target], sample * LINE * bytes))
            };
            let places: Vec<_> = attachments.iter().enumerate().map(|target| place(self, target)).collect();
            // All lanes are there still.
            let part = |(attachment, &(space, first)): (&Attachment, &(Space, Value))| {
                let (export, bytes) = (&attachment.export, attachment.export.info.bytes);
                (bytes < TEXEL && export.needs_stored()).then(|| self.stored_part(space, first, bytes))
            };
            let parts: Vec<_> = attachments.iter().zip(&places).map(part).collect();
            if let Some(&condition) = covered.get(sample as usize) {
                self.b.push(Inst::If { condition });
            }
            for (target, attachment) in attachments.iter().enumerate() {
                let ((space, first), part) = (places[target], parts[target]);
                let stored = |linker: &mut Self, word: usize| {
                    part.unwrap_or_else(|| {
                        let offset = linker.behind(first, word as u32 * TEXEL);
                        linker.b.load(space, offset, Type::I32)
                    })
                };
                let made = fresh[target].clone();
                let texel = made.or_else(|| self.texel(attachment, (&outputs, words), stored));
                match texel {
                    Some(words) if words.len() > 1 && covered.is_empty() => self.store_all(space, first, &words),
                    texel => self.store(space, first, (&texel.unwrap_or_default(), attachment.export.info.bytes)),
                }
            }
            if !covered.is_empty() {
                self.b.push(Inst::EndIf);
            }
        }
    }
}
