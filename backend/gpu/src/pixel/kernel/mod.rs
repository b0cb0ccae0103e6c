//! Fragment kernels: each combines the interpolation of inputs, a fragment program and the export
//! of colours in one program.
//!
//! A kernel runs one wave: four quads of pixels, or of samples if each sample is shaded
//! separately. It reads the words of its primitive as parameters, or as input words if the quads
//! belong to several primitives. Its outputs are the new words of texels. If several samples of a
//! pixel are combined with their stored texels, a second program exports the colours, once for
//! each sample.

mod blocks;
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

pub use blocks::{KernelCounts, KernelTally, tests_blocks};
pub use by_program::ByProgram;
pub use direct::{SmallPrimitivePath, discards_first};
use export::{Colors, Export};
use inputs::Inputs;
pub use traits::{BatchTraits, KernelOptions, PrimitiveBatch, tested};

/// Meaning of an input word of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelInput {
    /// x or y of the pixel, as a float.
    Pixel(usize),
    /// x or y of the sample's location in each pixel, 0 to 1, equal in all lanes.
    Place(usize),
    /// x or y of the centroid's position in its fragment, in pixels.
    Centroid(usize),
    /// Word of the lane's primitive.
    Primitive(u32),
    /// x or y of the centre's position in its fragment, in pixels. Only for fragments that may
    /// span several pixels.
    Centre(usize),
    /// Size of a fragment, in the encoding of shader programs.
    Rate,
    /// Width or height in pixels of the area over which the samples of a fragment lie. Only for
    /// fragments that may span several pixels.
    SampleArea(usize),
    /// Mask of the covered samples.
    Coverage,
    /// True if coverage is conservative and the primitive covers the lane's fragment fully.
    FullyCovered,
    /// Number of the shaded sample, equal in all lanes.
    Sample,
    /// True if the lane is a helper at the start.
    Helper,
    /// Component of the blend constants, equal in all lanes.
    BlendConstant(usize),
    /// Stored word of an attachment: number of the target, and index of the word.
    Stored(usize, usize),
    /// Output word of the shading program, for the program that exports.
    Output(usize),
    /// Group kernels: x or y of the group's first pixel as a float, equal in all lanes.
    Corner(usize),
    /// Group kernels: pixels of the group's upper or lower half of which a sample is covered, two
    /// words a sample, equal in all lanes.
    Pixels(usize),
    /// Kernels of whole groups: number of the wave among those that run at once, equal in all
    /// lanes.
    Wave,
    /// Group kernels: byte offset of the group in a target's plane, by the number of the target,
    /// equal in all lanes.
    Line(usize),
    /// Primitive kernels: x and y of the window's first pixel, then width and height of the
    /// window, equal in all lanes.
    Window(usize),
    /// Kernels of edge pairs: word of the second primitive's edges, see `Shape::EDGES`, equal in
    /// all lanes.
    Edge(u32),
    /// Mixed kernels: packed pixel, see `PackedPixel`.
    PackedPixel,
    /// Primitive and mixed kernels: bytes from one row of lines to the next in a target's plane,
    /// equal in all lanes. The depth plane comes last.
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

/// A compiled program and the meaning of its input words.
#[derive(Debug)]
pub struct Stage {
    /// The program.
    pub program: Program,
    /// Input words that the program reads: slot and meaning.
    pub sources: Vec<(usize, KernelInput)>,
    /// Number of waves that one run processes. Input and output words of the second wave follow
    /// those of the first.
    pub waves: usize,
    /// Kernels of edge pairs: input words that are edges of the second primitive, as slot and word
    /// of a shape.
    pub edges: Vec<(usize, u32)>,
    /// Kernels of edge pairs: indices of the words that must be equal in both primitives.
    pub common: Vec<u32>,
}

/// An attachment that a kernel exports to.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Location of the attachment.
    pub location: usize,
    /// Bytes of a texel.
    pub bytes: usize,
    /// First output word of the texel in the exporting program.
    pub first_word: usize,
    /// True if the result depends on the stored words.
    pub needs_stored: bool,
}

/// A linked fragment program of a pipeline.
#[derive(Debug)]
pub struct Kernel {
    /// Program that shades, and that also exports unless `export` is present.
    pub shade: Stage,
    /// Program that exports the colours, once for each sample.
    pub export: Option<Stage>,
    /// Program that shades two waves of one primitive at once.
    pub pair: Option<Stage>,
    /// Attachments that are written.
    pub targets: SmallVec<[Target; 8]>,
    /// Output word of the program's depth.
    pub depth: Option<usize>,
    /// Output word of the program's stencil reference.
    pub stencil: Option<usize>,
    /// Output word of the program's sample mask.
    pub sample_mask: Option<usize>,
    /// Output word of the alpha value for alpha-to-coverage.
    pub alpha: Option<usize>,
    /// True if a sample mask or alpha-to-coverage changes coverage. Discards do not count.
    pub changes_coverage: bool,
    /// True if results depend on stored texels. Then no two quads of a wave may have the same
    /// place.
    pub needs_stored: bool,
}

/// Kernels of a pipeline. Each kernel is linked and compiled when it is first used.
#[derive(Debug, Default)]
pub struct Kernels {
    traits: OnceLock<KernelTraits>,
    alone: OnceLock<Option<Kernel>>,
    packed: OnceLock<Option<Kernel>>,
    coarse: OnceLock<Option<Kernel>>,
    group: OnceLock<Option<Stage>>,
    whole: OnceLock<Option<Stage>>,
    /// Kernels of the same pipeline after routines were inlined into its program.
    pub inlined: ByProgram<Kernels>,
    /// Primitive kernels by primitives in a run and by depth bits, each without and with counting,
    /// and without and with tests of blocks.
    primitive: [[[[ByVaries; 2]; 2]; 3]; 2],
    /// Mixed kernels by depth bits, each without and with counting.
    mixed: [[ByVaries; 2]; 3],
    late: [[OnceLock<Option<Stage>>; 2]; 3],
}

/// Properties of a pipeline's kernels that are known before compilation.
#[derive(Debug)]
pub struct KernelTraits {
    /// Attachments that are written: location and bytes of a texel.
    pub targets: SmallVec<[(usize, usize); 8]>,
    /// True if results depend on stored texels.
    pub needs_stored: bool,
    /// True if a sample mask or alpha-to-coverage changes coverage. Discards do not count.
    pub changes_coverage: bool,
    /// True if the program reads which samples of a pixel are covered, or if its results differ
    /// between samples.
    pub sees_samples: bool,
    /// Path of small primitives, if there are kernels for it.
    pub small: Option<SmallPrimitivePath>,
    /// True if the program uses derivatives.
    pub uses_derivatives: bool,
    /// True if there is a kernel for whole groups.
    pub exports_whole: bool,
    /// True if there is a kernel for groups that are tested after the program.
    pub tests_late: bool,
}

impl Kernels {
    /// Returns the kernel for waves whose quads are `packed` of several primitives, or belong to
    /// one. Returns `None` without a fragment program.
    pub fn get(&self, pipeline: &PipelineState, packed: bool) -> Option<&Kernel> {
        let (cell, form) = if packed { (&self.packed, Form::Packed) } else { (&self.alone, Form::Alone) };
        cell.get_or_init(|| Kernel::new(pipeline, self.traits(pipeline), form)).as_ref()
    }

    /// Returns the kernel for waves of fragments that span several pixels, or `None` without a
    /// fragment program.
    pub fn coarse(&self, pipeline: &PipelineState) -> Option<&Kernel> {
        self.coarse.get_or_init(|| Kernel::new(pipeline, self.traits(pipeline), Form::Coarse)).as_ref()
    }

    /// Returns the properties that all kernels share.
    pub fn traits(&self, pipeline: &PipelineState) -> &KernelTraits {
        self.traits.get_or_init(|| KernelTraits::new(pipeline))
    }

    /// Returns the kernel for fully covered groups of one primitive, or `None` if waves of quads
    /// are necessary.
    pub fn whole(&self, pipeline: &PipelineState) -> Option<&Stage> {
        self.whole.get_or_init(|| group::link_whole(pipeline)).as_ref()
    }

    /// Returns the kernel for partially covered groups of one primitive, or `None` if waves of
    /// quads are better or necessary.
    pub fn group(&self, pipeline: &PipelineState) -> Option<&Stage> {
        self.group.get_or_init(|| group::link(pipeline)).as_ref()
    }

    /// Returns the kernel for small primitives, or `None` if there is none.
    ///
    /// `batch` describes the primitives that a run draws.
    pub fn primitive(&self, pipeline: &PipelineState, options: KernelOptions, batch: BatchTraits) -> Option<&Stage> {
        let (number, options) = options.supported();
        let kernels = &self.primitive[batch.batch as usize][number][usize::from(options.counts)];
        let kernels = &kernels[usize::from(batch.tests_blocks)];
        // Sieves only depend on depths.
        let is_sieve = self.traits(pipeline).small == Some(SmallPrimitivePath::Sieved);
        let varies = if is_sieve { Varies::ALL } else { batch.varies };
        kernels.get((pipeline, varies), |varies| primitive::link(pipeline, options, BatchTraits { varies, ..batch }))
    }

    /// Returns the kernel for pixels of several small primitives, or `None` if there is none.
    pub fn mixed(&self, pipeline: &PipelineState, options: KernelOptions, varies: Varies) -> Option<&Stage> {
        let (number, options) = options.supported();
        let kernels = &self.mixed[number][usize::from(options.counts)];
        kernels.get((pipeline, varies), |varies| mixed::link(pipeline, options, varies))
    }

    /// Returns the kernel for groups of one primitive that are tested after the program, or `None`
    /// if there is none.
    pub fn late(&self, pipeline: &PipelineState, options: KernelOptions) -> Option<&Stage> {
        let (number, options) = options.supported();
        let kernel = &self.late[number][usize::from(options.counts)];
        kernel.get_or_init(|| late::link(pipeline, options)).as_ref()
    }
}

/// Returns true if a pipeline's kernels become simpler by the knowledge that only `varies` varies
/// within primitives.
fn benefits(pipeline: &PipelineState, varies: Varies) -> bool {
    let benefits = |(number, input): (usize, &InputSlot)| match input.interpolation {
        _ if !input.slot.is_varying() => false,
        Interpolation::Smooth => !varies.w() || !varies.input(number),
        Interpolation::NoPerspective => !varies.input(number),
        _ => false,
    };
    let program = pipeline.fragment.as_deref();
    let tests_depth = tested(pipeline).is_some_and(|tests| tests.depth_test);
    let benefits = program.is_some_and(|program| program.inputs.iter().enumerate().any(benefits))
        || tests_depth && !varies.depth();
    varies != Varies::ALL && benefits
}

/// Maximum number of kernels of one kind that are specialised to constant values. Each is
/// separately compiled code.
const MAX_SPECIALIZED: usize = 3;

/// Kernels of one kind, by the values that vary within their primitives.
#[derive(Debug, Default)]
struct ByVaries {
    /// Kernel for any primitives.
    any: OnceLock<Option<Stage>>,
    /// Kernels that exploit constant values.
    specialized: [OnceLock<(Varies, Option<Stage>)>; MAX_SPECIALIZED],
}

impl ByVaries {
    /// Returns a kernel for primitives within which only `varies` varies.
    ///
    /// The kernel may be one for more varying values if the maximum number of specialised kernels
    /// exists.
    fn get(
        &self,
        (pipeline, varies): (&PipelineState, Varies),
        make: impl Fn(Varies) -> Option<Stage>,
    ) -> Option<&Stage> {
        if benefits(pipeline, varies) {
            let mut wider = None;
            for kernel in &self.specialized {
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

impl KernelOptions {
    /// Returns the index of the kernels for these depths, and the options that they are linked
    /// with.
    const fn supported(self) -> (usize, Self) {
        let (number, depth_bits) = match self.depth_bits {
            16 => (0, 16),
            24 => (1, 24),
            _ => (2, 32),
        };
        (number, Self { depth_bits, ..self })
    }
}

/// Form of the waves that a kernel is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// All quads belong to one primitive.
    Alone,
    /// Quads may belong to several primitives.
    Packed,
    /// Quads may belong to several primitives, and fragments may span several pixels. Each pixel
    /// combines its stored texel with the colour separately.
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
            small: direct::small_primitive_path(pipeline, &written),
            uses_derivatives: program.is_some_and(primitive::uses_derivatives),
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
        let export = Export {
            info,
            blend,
            logic_op: pipeline.logic_op,
            alpha_to_one: pipeline.multisample.alpha_to_one,
            dithers: pipeline.dithers,
        };
        Some(Attachment { location, export })
    };
    pipeline.color_formats.iter().enumerate().filter_map(exported).collect()
}

/// Returns the attachments that the fragment program writes, except for those whose write mask
/// excludes all channels.
fn written(pipeline: &PipelineState) -> Vec<Attachment> {
    let Some(program) = pipeline.fragment.as_deref() else { return Vec::new() };
    let outputs = Outputs::new(program);
    let is_written = |Attachment { location, export }: &Attachment| outputs.writes(*location) && export.writes_any();
    attachments(pipeline).into_iter().filter(is_written).collect()
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

    /// Returns the program whose outputs are texels.
    pub fn exporter(&self) -> &Stage {
        self.export.as_ref().unwrap_or(&self.shade)
    }
}

/// Colours among the output words of a fragment program.
struct Outputs<'a>(&'a Program);

impl<'a> Outputs<'a> {
    fn new(program: &'a Program) -> Self {
        Self(program)
    }

    fn find(&self, location: usize, component: u32, index: u32) -> Option<usize> {
        self.0.output(Slot::Location { location: location as u32, component, index })
    }

    /// Returns the output word that controls alpha-to-coverage: the alpha of the first colour,
    /// unless it is an integer.
    fn alpha(&self) -> Option<usize> {
        let first = self.0.fragment.color_attachment(0) as usize;
        self.find(first, 3, 0).filter(|&word| self.0.outputs[word].ty == Type::F32)
    }

    fn writes(&self, location: usize) -> bool {
        (0..4).any(|component| self.find(location, component, 0).is_some())
    }
}

/// Layout of the texels of a wave's lanes in attachments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Texels {
    /// Each texel may be anywhere.
    #[default]
    Apart,
    /// The texels of sixteen lanes are adjacent, and the first is aligned to their size.
    Strip,
    /// Each four lanes contain the texels of a quad.
    Quads,
    /// The texels form a block of 4x4.
    Block,
}

/// Builder of a kernel's program that numbers its inputs and outputs.
#[derive(Default)]
struct Linker {
    b: Builder,
    sources: Vec<KernelInput>,
    outputs: usize,
    /// Direct export: x and y of the lanes' pixels.
    place: Option<[Value; 2]>,
    /// Direct export: covered samples of the lanes' pixels before the program. Empty if all are
    /// covered.
    covered: Vec<Value>,
    /// Direct export: layout of the lanes' texels.
    texels: Texels,
    /// Direct export: values that vary within primitives.
    varies: Varies,
    /// Primitive kernels: primitives that a run draws.
    batch: PrimitiveBatch,
    /// Kernels of several primitives: number of the primitive of each lane's pixel.
    of: Option<Value>,
    /// Kernels of edge pairs: true in lanes whose pixel belongs to the second primitive.
    of_second: Option<Value>,
    /// Late kernels: local that records the lanes that discard their fragment.
    ended: Option<Local>,
}

impl Linker {
    /// Returns the input word for `source`.
    fn input(&mut self, source: KernelInput, ty: Type) -> Value {
        let known = self.sources.iter().position(|known| *known == source);
        let slot = known.unwrap_or_else(|| {
            self.sources.push(source);
            self.sources.len() - 1
        });
        self.b.input(slot as u32, ty)
    }

    /// Returns x or y of the pixel.
    fn pixel(&mut self, axis: usize) -> Value {
        match &self.place {
            Some(place) => place[axis],
            None => self.input(KernelInput::Pixel(axis), Type::F32),
        }
    }

    /// Makes a value an output word and returns its number.
    fn output(&mut self, value: Value) -> usize {
        self.b.push(Inst::Output { slot: self.outputs as u32, value });
        self.outputs += 1;
        self.outputs - 1
    }

    /// Returns the new words of an attachment's texels after a fragment, or `None` if it is never
    /// written.
    ///
    /// `words` are the output words of the fragment program. `stored` returns the stored words of
    /// the attachment.
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
        let dither = export.can_dither().then(|| {
            let place = [self.pixel(0), self.pixel(1)];
            export::dither(&mut self.b, place)
        });
        let colors = Colors { source: color(0), second: color(1), constants, dither };
        let stored_words = if export.needs_stored() { routines::words(export.info) } else { 0 };
        let mut stored = stored;
        let stored: Vec<Value> = (0..stored_words).map(|word| stored(self, word)).collect();
        export.words(&mut self.b, colors, &stored)
    }

    /// Exports a fragment to the attachments. `words` are the output words of the fragment
    /// program.
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

    /// Optimises and returns the program, with the resources of `program`.
    fn finish(self, program: Option<&Program>) -> LinkedKernel<'_> {
        let mut function = self.b.finish();
        passes::optimize(&mut function, &mut |_, _| {});
        LinkedKernel { function, sources: self.sources, outputs: self.outputs, program, with_all_lanes: false }
    }
}

/// Returns true if code runs two waves at once. With AVX2 a wave already occupies two registers,
/// so this applies only to AVX-512.
fn runs_pairs() -> bool {
    CodeTarget::chosen() == Some(CodeTarget::Avx512)
}

/// A linked program before compilation.
struct LinkedKernel<'a> {
    function: Function,
    sources: Vec<KernelInput>,
    outputs: usize,
    program: Option<&'a Program>,
    with_all_lanes: bool,
}

impl LinkedKernel<'_> {
    /// Compiles for [`vitric_exec::interp::Runs`], where all lanes are active.
    fn with_all_lanes(self) -> Self {
        Self { with_all_lanes: true, ..self }
    }

    /// Hoists loop-invariant code out of the loop, see [`passes::hoist`].
    fn hoisted(mut self) -> Self {
        passes::hoist(&mut self.function);
        self
    }

    /// Compiles for one wave.
    fn alone(&self) -> Stage {
        self.compiled(self.function.clone(), 1)
    }

    /// Compiles for two waves at once, or returns `None` if that is impossible or does not pay.
    fn pair(&self, effects: Effects) -> Option<Stage> {
        let words = (self.sources.len() as u32, self.outputs as u32);
        let same = |slot: u32| {
            let source = self.sources[slot as usize];
            source.variance() == LaneVariance::Uniform && source != KernelInput::Wave
        };
        let function = runs_pairs().then(|| passes::pair::run(&self.function, words, effects, same))?;
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

/// Linker that appends a fragment program.
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

/// Returns the input slots that a function reads, sorted and without duplicates.
fn read_slots(function: &Function) -> Vec<usize> {
    let slot = |inst: &Inst| if let Inst::Input { slot, .. } = inst { Some(*slot as usize) } else { None };
    let mut slots: Vec<usize> = function.insts.iter().filter_map(slot).collect();
    slots.sort_unstable();
    slots.dedup();
    slots
}

/// Returns true if a fragment program runs once for each sample.
pub(super) fn shades_samples(multisample: &MultisampleState, program: Option<&Program>) -> bool {
    let asked = multisample.min_sample_shading.is_some_and(|share| share * multisample.samples as f32 > 1.0);
    multisample.samples > 1 && (asked || program.is_some_and(|program| program.fragment.per_sample))
}
