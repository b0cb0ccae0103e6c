//! Fragment kernels: a fragment program, with the interpolation of its inputs before it and the export of its colours behind
//! it, as one program.
//!
//! A kernel runs one wave: four quads of pixels (or of samples, when each is shaded on its own). It reads the words of their
//! primitive as parameters when they are all of one, and as input words when they are packed of several. What it gives are the
//! texels' new words. Where several samples of a pixel are combined with what each of them holds, a second program exports the
//! colours, once a sample.

mod by_program;
mod direct;
mod export;
mod group;
mod inputs;
mod late;
mod mixed;
mod primitive;
mod traits;

use std::sync::OnceLock;

use smallvec::SmallVec;
use vitric_codegen::Target as CodeTarget;
use vitric_exec::{Program, format_ir as routines, link};
use vitric_format::FormatInfo;
use vitric_ir::interface::{Builtin, InputSlot, Interpolation, Slot};
use vitric_ir::passes::pair::Effects;
use vitric_ir::passes::{self, LaneVariance};
use vitric_ir::{Builder, Function, Inst, InterpolateAt, Local, Type, Value};

use crate::geometry::Varies;
use crate::raster::Shape;
use crate::state::{MultisampleState, PipelineState};

pub use by_program::ByProgram;
pub use direct::{SmallPrimitivePath, discards_first};
use export::{Colors, Export};
use inputs::Inputs;
pub use primitive::Tally;
pub use traits::{PrimitiveBatch, tested};

/// What an input word of a kernel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelInput {
    /// The pixel's x or y, as a float.
    Pixel(usize),
    /// Where in each pixel the run's sample lies, x or y, 0 to 1; the same in all lanes.
    Place(usize),
    /// Where in its fragment a centroid lies, x or y, pixels.
    Centroid(usize),
    /// A word of the lane's primitive.
    Primitive(u32),
    /// Where in its fragment the centre lies, x or y, pixels; of fragments that may be several pixels.
    Centre(usize),
    /// The size of a fragment, as programs have it.
    Rate,
    /// A word of the samples that are covered.
    Coverage,
    /// True if coverage is conservative and the primitive covers the lane's fragment fully.
    FullyCovered,
    /// The sample that is shaded; the same in all lanes.
    Sample,
    /// Whether the lane is a helper at the start.
    Helper,
    /// A component of the blend constants; the same in all lanes.
    BlendConstant(usize),
    /// A word that an attachment holds: number of the target, and which of its words.
    Stored(usize, usize),
    /// An output word of the kernel, for the program that exports.
    Output(usize),
    /// Group kernels: x or y of the group's first pixel, as a float; the same in all lanes.
    Corner(usize),
    /// Group kernels: the pixels of its upper or lower half of which a sample is covered, two words a sample; the same in all lanes.
    Pixels(usize),
    /// Kernels of whole groups: number of the wave among those that they run at once; the same in all lanes.
    Wave,
    /// Group kernels: byte of the group in a target's plane, by the number of the target; the same in all lanes.
    Line(usize),
    /// Primitive kernels: first pixel and size of the primitive's window, x and y of both; the same in all lanes.
    Window(usize),
    /// Kernels of neighbours: a word of the second primitive's edges, see `Shape::EDGES`; the same in all lanes.
    Edge(u32),
    /// Mixed kernels: a pixel, and whose it is: see `PackedPixel`.
    PackedPixel,
    /// Primitive and mixed kernels: bytes from a row of lines to the next in a plane, by the number of the target, depth being the last; the
    /// same in all lanes.
    Pitch(usize),
}

impl KernelInput {
    fn variance(self) -> LaneVariance {
        match self {
            Self::Place(_) | Self::BlendConstant(_) | Self::Sample => LaneVariance::Uniform,
            Self::Wave | Self::Corner(_) | Self::Pixels(_) | Self::Line(_) => LaneVariance::Uniform,
            Self::Window(_) | Self::Pitch(_) | Self::Edge(_) => LaneVariance::Uniform,
            _ => LaneVariance::Divergent,
        }
    }
}

/// A program, and what its input words are.
#[derive(Debug)]
pub struct Stage {
    /// The program.
    pub program: Program,
    /// Input words that it reads: slot, and what belongs there.
    pub sources: Vec<(usize, KernelInput)>,
    /// Waves that it runs at once: input and output words of the second follow those of the first.
    pub waves: usize,
    /// Of neighbours: the input words that are the second one's edges, slot and word of a shape.
    pub edges: Vec<(usize, u32)>,
    /// The words that those must have in common.
    pub common: Vec<u32>,
}

/// An attachment that a kernel exports to.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Location of the attachment.
    pub location: usize,
    /// Bytes of a texel.
    pub bytes: usize,
    /// First of the output words that are its texel, of the program that exports.
    pub first_word: usize,
    /// Whether the words that it holds take part.
    pub needs_stored: bool,
}

/// A fragment program of a pipeline, linked.
#[derive(Debug)]
pub struct Kernel {
    /// What shades, and exports unless `export` does.
    pub shade: Stage,
    /// What exports the colours, once for each sample.
    pub export: Option<Stage>,
    /// What shades two waves of one primitive at once.
    pub pair: Option<Stage>,
    /// Attachments that are written.
    pub targets: SmallVec<[Target; 8]>,
    /// Output word of the program's depth.
    pub depth: Option<usize>,
    /// Output word of the program's reference of the stencil test.
    pub stencil: Option<usize>,
    /// Output word of the program's sample mask.
    pub sample_mask: Option<usize>,
    /// Output word of the alpha that coverage is made of.
    pub alpha: Option<usize>,
    /// Whether coverage changes other than by lanes that end: by a sample mask, or by alpha.
    pub changes_coverage: bool,
    /// Whether what an attachment holds takes part: then no two quads of a wave may lie at the same place.
    pub needs_stored: bool,
}

/// The kernels of a pipeline: each is linked and compiled once, when it is first used.
#[derive(Debug, Default)]
pub struct Kernels {
    traits: OnceLock<KernelTraits>,
    alone: OnceLock<Option<Kernel>>,
    packed: OnceLock<Option<Kernel>>,
    coarse: OnceLock<Option<Kernel>>,
    group: OnceLock<Option<Stage>>,
    whole: OnceLock<Option<Stage>>,
    /// Those of the same pipeline with routines in its program.
    pub inlined: ByProgram<Kernels>,
    /// By what a run draws and the bits of depth: one that does not count, and one that does.
    primitive: [[[ByVaries; 2]; 3]; 2],
    /// By the bits of depth: one that does not count, and one that does.
    mixed: [[ByVaries; 2]; 3],
    late: [[OnceLock<Option<Stage>>; 2]; 3],
}

/// What of a pipeline's kernels is known before they are compiled.
#[derive(Debug)]
pub struct KernelTraits {
    /// Attachments that are written: location, and bytes of a texel.
    pub targets: SmallVec<[(usize, usize); 8]>,
    /// Whether what an attachment holds takes part.
    pub needs_stored: bool,
    /// Whether coverage changes other than by lanes that end: by a sample mask, or by alpha.
    pub changes_coverage: bool,
    /// Whether the program sees which samples of a pixel are covered, or differs from sample to sample.
    pub sees_samples: bool,
    /// How small primitives are drawn, where there are kernels for them.
    pub small: Option<SmallPrimitivePath>,
    /// Whether the program looks at how values change from pixel to pixel.
    pub differs: bool,
    /// Whether there is one for whole groups.
    pub exports_whole: bool,
    /// Whether there is one for groups whose fragments are tested behind the program.
    pub tests_late: bool,
}

impl Kernels {
    /// The kernel for waves whose quads are `packed` of several primitives, or all of one. `None` without a fragment program.
    pub fn get(&self, pipeline: &PipelineState, packed: bool) -> Option<&Kernel> {
        let (cell, form) = if packed { (&self.packed, Form::Packed) } else { (&self.alone, Form::Alone) };
        cell.get_or_init(|| Kernel::new(pipeline, self.traits(pipeline), form)).as_ref()
    }

    /// The kernel for waves of fragments of several pixels. `None` without a fragment program.
    pub fn coarse(&self, pipeline: &PipelineState) -> Option<&Kernel> {
        self.coarse.get_or_init(|| Kernel::new(pipeline, self.traits(pipeline), Form::Coarse)).as_ref()
    }

    /// What all of them have in common.
    pub fn traits(&self, pipeline: &PipelineState) -> &KernelTraits {
        self.traits.get_or_init(|| KernelTraits::new(pipeline))
    }

    /// The kernel for groups of one primitive that are covered wholly. `None` where waves of quads are needed.
    pub fn whole(&self, pipeline: &PipelineState) -> Option<&Stage> {
        self.whole.get_or_init(|| group::link_whole(pipeline)).as_ref()
    }

    /// The kernel for any groups of one primitive. `None` where waves of quads serve better, or are needed.
    pub fn group(&self, pipeline: &PipelineState) -> Option<&Stage> {
        self.group.get_or_init(|| group::link(pipeline)).as_ref()
    }

    /// The kernel for small primitives, or two neighbours of them, against depths of so many bits, one that `counts` or one that does not.
    /// `None` where it would not serve. It may know what changes within those.
    pub fn primitive(
        &self,
        pipeline: &PipelineState,
        (depth_bits, counts): (u32, bool),
        (drawn, varies): (PrimitiveBatch, Varies),
    ) -> Option<&Stage> {
        let (number, bits) = depth_of_kernel(depth_bits);
        let kernels = &self.primitive[drawn as usize][number][usize::from(counts)];
        // Sieves look at depths only.
        let is_sieve = self.traits(pipeline).small == Some(SmallPrimitivePath::Sieved);
        let varies = if is_sieve { Varies::ALL } else { varies };
        kernels.get((pipeline, varies), |varies| primitive::link(pipeline, (bits, counts), (drawn, varies)))
    }

    /// The same for pixels of several of them.
    pub fn mixed(&self, pipeline: &PipelineState, (depth_bits, counts): (u32, bool), varies: Varies) -> Option<&Stage> {
        let (number, bits) = depth_of_kernel(depth_bits);
        let kernels = &self.mixed[number][usize::from(counts)];
        kernels.get((pipeline, varies), |varies| mixed::link(pipeline, (bits, counts), varies))
    }

    /// The same for groups of one primitive whose fragments are tested behind the program.
    pub fn late(&self, pipeline: &PipelineState, (depth_bits, counts): (u32, bool)) -> Option<&Stage> {
        let (number, bits) = depth_of_kernel(depth_bits);
        let kernel = &self.late[number][usize::from(counts)];
        kernel.get_or_init(|| late::link(pipeline, (bits, counts))).as_ref()
    }
}

/// Whether a pipeline's kernels have less to do where they know that no more changes within primitives than this.
fn gains(pipeline: &PipelineState, varies: Varies) -> bool {
    let gains = |(number, input): (usize, &InputSlot)| match input.interpolation {
        _ if !input.slot.is_varying() => false,
        Interpolation::Smooth => !varies.w() || !varies.input(number),
        Interpolation::NoPerspective => !varies.input(number),
        _ => false,
    };
    let program = pipeline.fragment.as_deref();
    let tests_depth = tested(pipeline).is_some_and(|tests| tests.depth_test);
    let gains =
        program.is_some_and(|program| program.inputs.iter().enumerate().any(gains)) || tests_depth && !varies.depth();
    varies != Varies::ALL && gains
}

/// Most kernels of one kind that know what changes within primitives: each is compiled code.
const MAX_KNOWING: usize = 3;

/// Kernels of one kind, by what changes within the primitives that they are for.
#[derive(Debug, Default)]
struct ByVaries {
    /// For any.
    any: OnceLock<Option<Stage>>,
    knowing: [OnceLock<(Varies, Option<Stage>)>; MAX_KNOWING],
}

impl ByVaries {
    /// One for such primitives.
    fn get(
        &self,
        (pipeline, varies): (&PipelineState, Varies),
        make: impl Fn(Varies) -> Option<Stage>,
    ) -> Option<&Stage> {
        if gains(pipeline, varies) {
            let mut wider = None;
            for kernel in &self.knowing {
                let (of, stage) = kernel.get_or_init(|| (varies, make(varies)));
                if *of == varies {
                    return stage.as_ref();
                }
                wider = wider.or(Some(stage).filter(|_| of.includes(varies)));
            }
            if let Some(stage) = wider {
                return stage.as_ref();
            }
        }
        self.any.get_or_init(|| make(Varies::ALL)).as_ref()
    }
}

/// Number of the kernel for depths of so many bits, and those bits.
const fn depth_of_kernel(depth_bits: u32) -> (usize, u32) {
    match depth_bits {
        16 => (0, 16),
        24 => (1, 24),
        _ => (2, 32),
    }
}

/// What waves a kernel is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// All quads are of one primitive.
    Alone,
    /// Quads may be of several primitives.
    Packed,
    /// The same, with fragments of several pixels: what is stored in each of these is combined with their colour one by one.
    Coarse,
}

impl KernelTraits {
    fn new(pipeline: &PipelineState) -> Self {
        let (written, program) = (written(pipeline), pipeline.fragment.as_deref());
        let masks = program.is_some_and(|program| program.output_builtin(Builtin::SampleMask, 0).is_some());
        let alpha = program.is_some_and(|program| Outputs::new(program).alpha().is_some());
        Self {
            targets: written.iter().map(|target| (target.location, target.export.info.bytes as usize)).collect(),
            needs_stored: written.iter().any(|target| target.export.needs_stored()),
            changes_coverage: masks || alpha && pipeline.multisample.alpha_to_coverage,
            sees_samples: program.is_some_and(direct::sees_samples),
            small: direct::way(pipeline, &written),
            differs: program.is_some_and(primitive::differs),
            exports_whole: direct::serves_groups(pipeline, &written),
            tests_late: direct::serves_late(pipeline, &written),
        }
    }
}

/// A colour attachment that is written, before its words are numbered.
struct Attachment {
    location: usize,
    export: Export,
}

fn attachments(pipeline: &PipelineState) -> Vec<Attachment> {
    let exported = |(location, format): (usize, &Option<&'static FormatInfo>)| {
        let (info, blend) = ((*format)?, *pipeline.blend.get(location)?);
        let alpha_to_one = pipeline.multisample.alpha_to_one;
        Some(Attachment { location, export: Export { info, blend, logic_op: pipeline.logic_op, alpha_to_one } })
    };
    pipeline.color_formats.iter().enumerate().filter_map(exported).collect()
}

/// The attachments that the fragment program writes.
fn written(pipeline: &PipelineState) -> Vec<Attachment> {
    let Some(program) = pipeline.fragment.as_deref() else { return Vec::new() };
    let outputs = Outputs::new(program);
    attachments(pipeline).into_iter().filter(|attachment| outputs.writes(attachment.location)).collect()
}

impl Kernel {
    fn new(pipeline: &PipelineState, traits: &KernelTraits, form: Form) -> Option<Self> {
        let program = pipeline.fragment.as_deref()?;
        let by_sample = shades_samples(&pipeline.multisample, Some(program));
        let one_sample = form != Form::Coarse && (pipeline.multisample.samples == 1 || by_sample);
        let outputs = Outputs::new(program);
        let (attachments, needs_stored) = (written(pipeline), traits.needs_stored);
        let apart = needs_stored && !one_sample;

        let mut linker = Linker::default();
        let inputs = || Inputs::new(program, form, (by_sample, &pipeline.multisample));
        let mut words = link::append(&mut FragmentLinker { linker: &mut linker, inputs: inputs() }, program);
        if let Some(alpha) = outputs.alpha().filter(|_| pipeline.smooths_lines()) {
            let first = Shape::first_word(pipeline.varyings().count());
            words[alpha] = inputs().smoothed(&mut linker, words[alpha], first);
        }
        let mut kept = |word: Option<usize>| word.map(|word| linker.output(words[word]));
        let depth = kept(program.output_builtin(Builtin::FragDepth, 0));
        let stencil = kept(program.output_builtin(Builtin::FragStencilRef, 0));
        let sample_mask = kept(program.output_builtin(Builtin::SampleMask, 0));
        let alpha = kept(outputs.alpha().filter(|_| pipeline.multisample.alpha_to_coverage));
        let (targets, export) = if apart {
            let mut exporter = Linker::default();
            let mut hand_over = |word: usize| {
                let (output, ty) = (linker.output(words[word]), program.outputs[word].ty);
                exporter.input(KernelInput::Output(output), ty)
            };
            let handed: Vec<Value> = (0..words.len()).map(&mut hand_over).collect();
            let targets = exporter.export(&attachments, &outputs, &handed);
            (targets, Some(exporter.finish(None).alone()))
        } else {
            (linker.export(&attachments, &outputs, &words), None)
        };
        let changes_coverage = sample_mask.is_some() || alpha.is_some();
        let linked = linker.finish(Some(program));
        let shade = linked.alone();
        let may_pair = export.is_none() && form == Form::Alone && !by_sample;
        let pair = may_pair.then(|| linked.pair(Effects::Refused)).flatten();
        Some(Self { shade, export, pair, targets, depth, stencil, sample_mask, alpha, changes_coverage, needs_stored })
    }

    /// The program whose outputs are texels.
    pub fn exporter(&self) -> &Stage {
        self.export.as_ref().unwrap_or(&self.shade)
    }
}

/// Where a fragment program's colours are among its output words.
struct Outputs<'a>(&'a Program);

impl<'a> Outputs<'a> {
    fn new(program: &'a Program) -> Self {
        Self(program)
    }

    fn find(&self, location: usize, component: u32, index: u32) -> Option<usize> {
        self.0.output(Slot::Location { location: location as u32, component, index })
    }

    /// The alpha that coverage has to do with: that of the first colour, unless that is integers.
    fn alpha(&self) -> Option<usize> {
        self.find(self.0.fragment.first_color as usize, 3, 0).filter(|&word| self.0.outputs[word].ty == Type::F32)
    }

    fn writes(&self, location: usize) -> bool {
        (0..4).any(|component| self.find(location, component, 0).is_some())
    }
}

/// Where in attachments the texels of a wave's lanes lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Texels {
    /// Anywhere.
    #[default]
    Apart,
    /// Those of sixteen lanes follow each other, from a multiple of so many.
    Strip,
    /// Four lanes each have those of a quad.
    Quads,
    /// They are a block of 4x4.
    Block,
}

/// Builds a kernel's program, and numbers its inputs and outputs.
#[derive(Default)]
struct Linker {
    b: Builder,
    sources: Vec<KernelInput>,
    outputs: usize,
    /// Kernels that export themselves: x and y of the lanes' pixels.
    place: Option<[Value; 2]>,
    /// The same: which samples of these are covered, in front of the program; nothing where all are.
    covered: Vec<Value>,
    /// Kernels that export themselves: where the lanes' texels lie.
    texels: Texels,
    /// Kernels that export themselves: what changes within primitives.
    varies: Varies,
    /// Primitive kernels: what a run draws.
    drawn: PrimitiveBatch,
    /// Kernels of several primitives: which of these each lane's pixel is of.
    of: Option<Value>,
    /// Kernels of neighbours: whether each lane's pixel is of the second one.
    of_second: Option<Value>,
    /// Late kernels: where lanes are noted that discard their fragment.
    ended: Option<Local>,
}

impl Linker {
    /// The input word that is `source`.
    fn input(&mut self, source: KernelInput, ty: Type) -> Value {
        let known = self.sources.iter().position(|known| *known == source);
        let slot = known.unwrap_or_else(|| {
            self.sources.push(source);
            self.sources.len() - 1
        });
        self.b.input(slot as u32, ty)
    }

    /// A pixel's x or y.
    fn pixel(&mut self, axis: usize) -> Value {
        match &self.place {
            Some(place) => place[axis],
            None => self.input(KernelInput::Pixel(axis), Type::F32),
        }
    }

    /// Makes a value an output word; its number.
    fn output(&mut self, value: Value) -> usize {
        self.b.push(Inst::Output { slot: self.outputs as u32, value });
        self.outputs += 1;
        self.outputs - 1
    }

    /// The words of an attachment's texels after a fragment; `None` when it is never written. `words` are the output words of the
    /// fragment program, `stored` gives the words that the attachment holds.
    fn texel(
        &mut self,
        Attachment { location, export }: &Attachment,
        (outputs, words): (&Outputs<'_>, &[Value]),
        stored: impl FnMut(&mut Self, usize) -> Value,
    ) -> Option<routines::Words> {
        let constants = std::array::from_fn(|component| self.input(KernelInput::BlendConstant(component), Type::F32));
        let nothing = self.b.int(0);
        let color = |index: u32| {
            let word = |component: usize| outputs.find(*location, component as u32, index);
            std::array::from_fn(|component| word(component).map_or(nothing, |word| words[word]))
        };
        let colors = Colors { source: color(0), second: color(1), constants };
        let held = if export.needs_stored() { routines::words(export.info) } else { 0 };
        let mut stored = stored;
        let stored: Vec<Value> = (0..held).map(|word| stored(self, word)).collect();
        export.words(&mut self.b, colors, &stored)
    }

    /// Exports a fragment to the attachments. `words` are the output words of the fragment program.
    fn export(&mut self, attachments: &[Attachment], outputs: &Outputs<'_>, words: &[Value]) -> SmallVec<[Target; 8]> {
        let mut targets = SmallVec::new();
        for (number, attachment) in attachments.iter().enumerate() {
            let stored = |linker: &mut Self, word: usize| linker.input(KernelInput::Stored(number, word), Type::I32);
            let Some(texel) = self.texel(attachment, (outputs, words), stored) else { continue };
            let (Attachment { location, export }, first_word) = (attachment, self.outputs);
            let needs_stored = export.needs_stored();
            for &word in &texel {
                self.output(word);
            }
            let bytes = export.info.bytes as usize;
            targets.push(Target { location: *location, bytes, first_word, needs_stored });
        }
        targets
    }

    /// The program that it built, optimised, with the resources of the one that it was made of.
    fn finish(self, program: Option<&Program>) -> Linked<'_> {
        let mut function = self.b.finish();
        passes::optimize(&mut function, &mut |_, _| {});
        Linked { function, sources: self.sources, outputs: self.outputs, program, with_all_lanes: false }
    }
}

/// Whether code runs two waves at once: two registers hold a wave of AVX2, which so is a pair already.
fn wants_pair() -> bool {
    CodeTarget::chosen() == Some(CodeTarget::Avx512)
}

/// A program that was linked, before it is compiled.
struct Linked<'a> {
    function: Function,
    sources: Vec<KernelInput>,
    outputs: usize,
    program: Option<&'a Program>,
    with_all_lanes: bool,
}

impl Linked<'_> {
    /// For [`vitric_exec::interp::Runs`], which has all lanes.
    fn with_all_lanes(self) -> Self {
        Self { with_all_lanes: true, ..self }
    }

    /// With what its loop computes anew in front of it, see [`passes::hoist`].
    fn hoisted(mut self) -> Self {
        passes::hoist(&mut self.function);
        self
    }

    /// For one wave.
    fn alone(&self) -> Stage {
        self.compiled(self.function.clone(), 1)
    }

    /// For two waves at once; `None` where that cannot be done, or does not pay.
    fn pair(&self, effects: Effects) -> Option<Stage> {
        let words = (self.sources.len() as u32, self.outputs as u32);
        let same = |slot: u32| {
            let source = self.sources[slot as usize];
            source.variance() == LaneVariance::Uniform && source != KernelInput::Wave
        };
        let function = wants_pair().then(|| passes::pair::run(&self.function, words, effects, same))?;
        Some(self.compiled(function?, 2))
    }

    fn compiled(&self, function: Function, waves: usize) -> Stage {
        let variance: Vec<LaneVariance> = self.sources.iter().map(|source| source.variance()).collect();
        let slots = read_slots(&function).into_iter();
        let sources: Vec<_> = slots.map(|slot| (slot, self.sources[slot % variance.len()])).collect();
        let edge = |&(slot, source): &_| if let KernelInput::Edge(word) = source { Some((slot, word)) } else { None };
        let (edges, common) = (sources.iter().filter_map(edge).collect(), Vec::new());
        let mut linked = Program::routine(function, &variance.repeat(waves), self.outputs * waves);
        if let Some(program) = self.program {
            linked.stage = program.stage;
            linked.resources.clone_from(&program.resources);
        }
        if self.with_all_lanes {
            linked.code = linked.code.with_all_lanes();
        }
        linked.code.generate_chosen(linked.stage, "kernel");
        Stage { program: linked, sources, waves, edges, common }
    }
}

/// Appends a fragment program.
struct FragmentLinker<'a> {
    linker: &'a mut Linker,
    inputs: Inputs<'a>,
}

impl link::Linker for FragmentLinker<'_> {
    fn builder(&mut self) -> &mut Builder {
        &mut self.linker.b
    }

    fn input(&mut self, slot: usize, ty: Type) -> Value {
        self.inputs.word(self.linker, slot, ty)
    }

    fn ended(&self) -> Option<Local> {
        self.linker.ended
    }

    fn interpolated(&mut self, slot: usize, at: InterpolateAt, ty: Type) -> Value {
        self.inputs.interpolated(self.linker, slot, at, ty)
    }
}

/// Input words that a function reads.
fn read_slots(function: &Function) -> Vec<usize> {
    let slot = |inst: &Inst| if let Inst::Input { slot, .. } = inst { Some(*slot as usize) } else { None };
    let mut slots: Vec<usize> = function.insts.iter().filter_map(slot).collect();
    slots.sort_unstable();
    slots.dedup();
    slots
}

/// Whether a fragment program runs once for each sample.
pub(super) fn shades_samples(multisample: &MultisampleState, program: Option<&Program>) -> bool {
    let asked = multisample.min_sample_shading.is_some_and(|share| share * multisample.samples as f32 > 1.0);
    multisample.samples > 1 && (asked || program.is_some_and(|program| program.fragment.per_sample))
}
