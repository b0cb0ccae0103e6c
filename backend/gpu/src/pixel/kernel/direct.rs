//! Kernels that export directly: they process sixteen pixels of one primitive at a time and write
//! the attachments themselves.
//!
//! All lanes run. Uncovered lanes are helpers, which write nothing. This is best for short
//! programs. For long programs, quads of several primitives are packed into full waves.

use vitric_base::simd::WAVE;
use vitric_exec::runtime::frame::LANES_BYTES;
use vitric_exec::{Program, link};
use vitric_ir::interface::{Builtin, InputSlot, Place, Slot};
use vitric_ir::passes::pair;
use vitric_ir::{BinaryOp as B, Function, Inst, Space, Type, Value};

use super::inputs::Inputs;
use super::traits::{FragmentShading, TEXEL, is_late};
use super::{Attachment, Form, FragmentLinker, Linker, Outputs, Texels, shades_samples};
use crate::raster::has_all_samples;
use crate::state::PipelineState;

/// Maximum number of instructions of a program that runs with idle lanes instead of in packed
/// waves.
const MAX_INSTRUCTIONS: usize = 160;

/// Maximum number of instructions for all samples together, if each sample is shaded.
const MAX_SAMPLE_SHADED_INSTRUCTIONS: usize = 4 * MAX_INSTRUCTIONS;

/// Maximum number of instructions of a program for which a kernel of whole groups pays.
const MAX_WHOLE_INSTRUCTIONS: usize = 4000;

/// Maximum size of a short program's locals, in 32-bit words.
const MAX_LOCALS: u32 = 32;

/// Maximum number of exports that are unrolled in the code: samples times attachments.
const MAX_EXPORTS: u32 = 128;

/// Cost of an export that is combined with the stored texel, in plain exports.
const COMBINED: u32 = 4;

/// Texels of a line, each of one sample.
pub(super) const LINE: u32 = 64;

/// Sixteen pixels of one primitive in whole quads, one a lane.
#[derive(Clone)]
pub(super) struct PixelLanes {
    /// x and y of the pixels, as floats.
    pub(super) place: [Value; 2],
    /// Coverage of the pixels, sample by sample. Empty if all are covered.
    pub(super) covered: Vec<Value>,
    /// Byte offset of each pixel's first sample in each target's plane. If a plane is accessed as
    /// a block, the offset of the block's first pixel.
    pub(super) texels: Vec<Value>,
}

/// Path of small primitives, if they are not drawn by waves of quads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmallPrimitivePath {
    /// For short programs. One kernel does everything from coverage to export, with some lanes
    /// idle.
    OneKernel,
    /// For long programs. One kernel finds the pixels that are covered and pass their test, and a
    /// mixed kernel shades them in full waves.
    Sieved,
}

/// Returns the path of small primitives for a pipeline that writes `attachments`, or `None` if
/// waves of quads are necessary.
pub(super) fn small_primitive_path(pipeline: &PipelineState, attachments: &[Attachment]) -> Option<SmallPrimitivePath> {
    if serves(pipeline, attachments) {
        return Some(SmallPrimitivePath::OneKernel);
    }
    let is_served =
        has_one_sample(pipeline) && has_texels(pipeline, attachments) && !pipeline.multisample.alpha_to_coverage;
    let fits = |program| is_plain(program, Effects::Discards);
    (is_served && pipeline.fragment.as_deref().is_some_and(fits)).then_some(SmallPrimitivePath::Sieved)
}

/// Returns true if fragments are tested and written only after the program has discarded some. A
/// sieve then only reads depths.
pub fn discards_first(program: &Program) -> bool {
    program.fragment.may_discard && !program.fragment.early_tests
}

/// Returns true if a pipeline that writes `attachments` has kernels that export directly even
/// where some lanes of blocks are idle.
pub(super) fn serves(pipeline: &PipelineState, attachments: &[Attachment]) -> bool {
    let multisample = &pipeline.multisample;
    let fits = |program: &Program| {
        // Shading of each sample requires early tests. Late tests require that all samples of a
        // pixel are shaded together.
        let effects = if is_late(pipeline, program) { Effects::Late } else { Effects::None };
        let by_sample = shades_samples(multisample, Some(program));
        let is_supported = !by_sample || effects == Effects::None;
        let times = if by_sample { multisample.samples as usize } else { 1 };
        let is_short =
            is_short(program) && program.code.function().insts.len() * times <= MAX_SAMPLE_SHADED_INSTRUCTIONS;
        is_short && is_plain(program, effects) && is_supported
    };
    exports_all(pipeline, attachments) && pipeline.fragment.as_deref().is_none_or(fits)
}

/// Returns true if a pipeline has kernels for groups that are tested before the program.
pub(super) fn serves_groups(pipeline: &PipelineState, attachments: &[Attachment]) -> bool {
    let is_long = |program: &Program| program.code.function().insts.len() > MAX_WHOLE_INSTRUCTIONS;
    let fits = |program: &Program| !is_long(program) && is_plain(program, Effects::None);
    exports_all(pipeline, attachments) && pipeline.fragment.as_deref().is_some_and(fits)
}

/// Returns the number of samples that one run of a group kernel writes. With shading by sample,
/// this is one, and an input selects the sample.
pub(super) fn samples_of_run(pipeline: &PipelineState) -> u32 {
    let by_sample = shades_samples(&pipeline.multisample, pipeline.fragment.as_deref());
    if by_sample { 1 } else { pipeline.multisample.samples }
}

/// Returns true if a pipeline has a kernel for groups that are tested after the program has
/// discarded samples or written depths.
pub(super) fn serves_late(pipeline: &PipelineState, attachments: &[Attachment]) -> bool {
    let fits = |program: &Program| {
        let is_long = program.code.function().insts.len() > MAX_WHOLE_INSTRUCTIONS;
        is_late(pipeline, program) && !is_long && is_plain(program, Effects::Late)
    };
    let by_sample = shades_samples(&pipeline.multisample, pipeline.fragment.as_deref());
    !by_sample && exports_all(pipeline, attachments) && pipeline.fragment.as_deref().is_some_and(fits)
}

/// Returns true if kernels can export all samples with an acceptable amount of code.
fn exports_all(pipeline: &PipelineState, attachments: &[Attachment]) -> bool {
    let cost = |attachment: &Attachment| if attachment.export.needs_stored() { COMBINED } else { 1 };
    let exports = pipeline.multisample.samples * attachments.iter().map(cost).sum::<u32>();
    has_texels(pipeline, attachments) && exports <= MAX_EXPORTS
}

pub(super) fn has_one_sample(pipeline: &PipelineState) -> bool {
    pipeline.multisample.samples == 1 && has_all_samples(&pipeline.multisample)
}

/// Returns true if kernels can store the texels of all attachments. A texel must have one or two
/// bytes, or one, two or four words.
///
/// Kernels support neither smooth lines, nor alpha-to-coverage after early tests.
fn has_texels(pipeline: &PipelineState, attachments: &[Attachment]) -> bool {
    let texels = attachments.iter().all(|attachment| matches!(attachment.export.info.bytes, 1 | 2 | 4 | 8 | 16));
    let tests_early = pipeline.fragment.as_deref().is_some_and(|program| program.fragment.early_tests);
    let takes_samples = pipeline.multisample.alpha_to_coverage && tests_early;
    texels && !takes_samples && !pipeline.smooths_lines()
}

fn is_short(program: &Program) -> bool {
    let Function { insts, locals, .. } = program.code.function();
    let is_costly = |inst: &Inst| matches!(inst, Inst::Loop | Inst::Image(_));
    insts.len() <= MAX_INSTRUCTIONS && locals.iter().sum::<u32>() <= MAX_LOCALS && !insts.iter().any(is_costly)
}

/// Effects that a program may have besides computing colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effects {
    None,
    /// The program may discard fragments. Lanes that discard end their run, so a run must process
    /// a single wave.
    Discards,
    /// The program may also write depth or the sample mask.
    Late,
}

/// Returns true if a program only computes colours, independently of the other lanes, and has no
/// effects beyond `effects`.
fn is_plain(program: &Program, effects: Effects) -> bool {
    let facts = &program.fragment;
    let replaces = (facts.writes_depth || facts.writes_sample_mask) && effects != Effects::Late || facts.writes_stencil;
    let ends = facts.may_discard && effects == Effects::None;
    let changes = ends || replaces || facts.side_effects || facts.interlock || facts.post_depth;
    let sees_coverage = |slot| {
        matches!(slot, Slot::Builtin(Builtin::SampleMask | Builtin::HelperInvocation | Builtin::FullyCovered, _))
    };
    let hinders = |inst: &Inst| match inst {
        Inst::Ballot { .. } | Inst::Shuffle { .. } => true,
        Inst::Interpolate { .. } | Inst::Load { .. } | Inst::Kill | Inst::Demote => false,
        inst => pair::depends_on_wave(inst) || pair::has_effect(inst),
    };
    !changes
        && !program.inputs.iter().any(|input| sees_coverage(input.slot))
        && !program.without_routines().insts.iter().any(hinders)
}

/// Returns true if a program's results depend on the sample of a pixel, or on the covered samples.
pub(super) fn sees_samples(program: &Program) -> bool {
    let sees =
        |input: &InputSlot| input.place != Place::Center || matches!(input.slot, Slot::Builtin(Builtin::SampleMask, _));
    let insts = &program.code.function().insts;
    program.fragment.per_sample
        || program.inputs.iter().any(sees)
        || insts.iter().any(|inst| matches!(inst, Inst::Interpolate { .. }))
}

impl Linker {
    /// Returns the address space of a plane with texels of `bytes` bytes.
    pub(super) fn plane(&self, plane: usize, bytes: u32) -> Space {
        let plane = plane as u32;
        match (self.texels, bytes) {
            (Texels::Quads, TEXEL) => Space::Quads(plane),
            (Texels::Block, TEXEL) => Space::Block(plane),
            _ => Space::Range(plane),
        }
    }

    /// Returns the offset that is `bytes` bytes after `byte`.
    fn behind(&mut self, byte: Value, bytes: u32) -> Value {
        let bytes = self.b.int(bytes);
        self.b.binary(B::IAdd, byte, bytes)
    }

    /// Loads texels of one or two bytes, which are parts of words. `first` is the offset of each
    /// texel.
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

    /// Loads the words that contain the texels of a strip, and returns the byte offset of each
    /// texel in its word.
    ///
    /// Lanes load adjacent words.
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

    /// Stores the words of texels of `bytes` bytes at offset `first`.
    fn store(&mut self, space: Space, first: Value, (words, bytes): (&[Value], u32)) {
        for (word, &value) in (0..).zip(words) {
            let offset = self.behind(first, word * TEXEL);
            self.b.push(match bytes {
                1 | 2 => Inst::StorePart { space, offset, value, bytes },
                _ => Inst::Store { space, offset, value },
            });
        }
    }

    /// Stores the words of adjacent texels in all lanes.
    ///
    /// Words are shuffled so that each vector of memory gets one store, because words that lie
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

    /// Runs the fragment program on some pixels and writes its colours to `samples` samples.
    pub(super) fn shade(
        &mut self,
        shading: FragmentShading<'_>,
        attachments: &[Attachment],
        pixels: PixelLanes,
        samples: u32,
    ) {
        let words = self.run(shading, &pixels, None);
        self.write((shading.program, &words), attachments, &pixels, 0..samples);
    }

    /// Runs the fragment program for each sample and writes the sample's colours. Calls `report`
    /// with the pixels that are shaded.
    pub(super) fn shade_samples(
        &mut self,
        shading: FragmentShading<'_>,
        attachments: &[Attachment],
        pixels: &PixelLanes,
        report: &mut dyn FnMut(&mut Self, Value),
    ) {
        for (sample, &covered) in (0..).zip(&pixels.covered) {
            let any = self.any(&[covered]);
            self.b.push(Inst::If { condition: any });
            report(self, covered);
            let words = self.run(shading, pixels, Some(sample));
            self.write((shading.program, &words), attachments, pixels, sample..sample + 1);
            self.b.push(Inst::EndIf);
        }
    }

    /// Returns the output words of the fragment program for some pixels, or for one of their
    /// samples.
    pub(super) fn run(
        &mut self,
        FragmentShading { pipeline, program }: FragmentShading<'_>,
        PixelLanes { place, covered, .. }: &PixelLanes,
        sample: Option<u32>,
    ) -> Vec<Value> {
        let state = &pipeline.multisample;
        (self.place, self.covered) = (Some(*place), covered.clone());
        // A sample number that is unknown at compile time is an input.
        let by_sample = sample.is_none() && shades_samples(state, Some(program));
        let inputs = Inputs::new(program, Form::Alone, (by_sample, state)).of_sample(sample).that_vary(self.varies);
        let words = link::append_in_loop(&mut FragmentLinker { linker: self, inputs }, program);
        self.place = None;
        words
    }

    /// Writes the outputs of the fragment program to some samples of the attachments.
    pub(super) fn write(
        &mut self,
        (program, words): (&Program, &[Value]),
        attachments: &[Attachment],
        PixelLanes { covered, texels, .. }: &PixelLanes,
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
            // These loads come first, while all lanes still run, because they use shuffles.
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
