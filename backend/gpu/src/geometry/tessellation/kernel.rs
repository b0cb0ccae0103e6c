//! Linked programs of a pipeline with tessellation: vertex programs whose results control programs
//! read, control programs, and evaluation programs as vertex kernels.
//!
//! Each is a separate program. The control program lists the resources of all of them.

use std::sync::{Arc, OnceLock};

use vitric_exec::Program;
use vitric_exec::link::{self, Linker, NumberBase};
use vitric_ir::interface::{Builtin, PatchFacts, Slot};
use vitric_ir::passes::{self, LaneVariance};
use vitric_ir::{Builder, Inst, InterpolateAt, Type, Value};

use crate::geometry::VertexKernel;
use crate::geometry::kernel::{Results, VertexLinker, fetch_variance};
use crate::state::PipelineState;

/// Input slots of a control program.
pub(super) mod control {
    /// Address of the patch's block.
    pub const BASE: u32 = 0;
    /// Address of the table of the patch's vertices.
    pub const TABLE: u32 = 1;
    /// Invocation index, which is that of the output vertex.
    pub const INVOCATION: u32 = 2;
    /// Number of the patch.
    pub const PRIMITIVE: u32 = 3;
    /// Number of input vertices.
    pub const VERTICES: u32 = 4;
    /// Number of input slots.
    pub const COUNT: usize = 5;
}

/// Input slots of an evaluation program.
pub(super) mod evaluation {
    /// First of three coordinates u, v and w.
    pub const PLACE: u32 = 0;
    /// Address of the patch's block.
    pub const BASE: u32 = 3;
    /// Number of the patch.
    pub const PRIMITIVE: u32 = 4;
    /// Number of input slots.
    pub const COUNT: usize = 5;
}

/// Byte offset outside of memory. Loads from it return 0.
const OUTSIDE_MEMORY: u32 = 0x8000_0000;

/// Size of a patch's block, in dwords.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockSize {
    /// Dwords of the patch.
    pub patch: u32,
    /// Dwords of a vertex.
    pub vertex: u32,
    /// Number of vertices.
    pub vertices: u32,
}

impl BlockSize {
    fn of(facts: &PatchFacts, vertices: u32) -> Self {
        Self { patch: facts.patch.len() as u32, vertex: facts.vertex.len() as u32, vertices }
    }

    /// Returns the size of the block, dwords.
    pub fn words(self) -> u32 {
        self.patch + self.vertex * self.vertices
    }
}

/// An evaluation program after linking.
#[derive(Debug)]
pub(crate) enum Evaluation {
    /// Kernel whose vertices go to triangle setup.
    Vertices(VertexKernel),
    /// Program that writes vertex components for a geometry program.
    Words(Program),
}

/// The tessellation programs of a pipeline.
#[derive(Debug)]
pub struct TessellationKernel {
    /// The vertex program. Its outputs are the vertex components that the control program reads.
    pub(super) points: Program,
    pub(super) control: Arc<Program>,
    pub(crate) evaluation: Evaluation,
    pub(super) block: BlockSize,
    /// Dwords of the block that hold the levels: four outer and two inner ones.
    pub(super) levels: [Option<u32>; 6],
    /// True if programs may run in any order.
    is_pure: bool,
}

/// The tessellation programs of a pipeline, linked and compiled once.
#[derive(Debug, Default)]
pub struct LazyTessellationKernel {
    programs: OnceLock<Option<TessellationKernel>>,
    captured: OnceLock<Option<VertexKernel>>,
}

impl LazyTessellationKernel {
    /// Returns the programs, or `None` if the pipeline has none.
    pub fn get(&self, pipeline: &PipelineState) -> Option<&TessellationKernel> {
        pipeline.patches.as_ref()?;
        self.programs.get_or_init(|| TessellationKernel::new(pipeline)).as_ref()
    }

    /// Returns the kernel of the evaluation program that also writes the outputs of transform
    /// feedback.
    pub fn captured(&self, pipeline: &PipelineState) -> Option<&VertexKernel> {
        let make = || LinkedPatches::new(pipeline)?.vertices(pipeline, true);
        self.captured.get_or_init(make).as_ref()
    }
}

/// Returns the numbers of resources and image instructions of the programs before the geometry
/// program.
pub(crate) fn before_geometry(pipeline: &PipelineState) -> NumberBase {
    let patches = pipeline.patches.iter().flat_map(|programs| [&programs.control, &programs.evaluation]);
    before([&pipeline.vertex].into_iter().chain(patches).map(|program| &**program))
}

fn before<'a>(programs: impl IntoIterator<Item = &'a Program>) -> NumberBase {
    let add = |sum: NumberBase, program: &Program| NumberBase {
        resources: sum.resources + program.resources.len() as u32,
        images: sum.images + program.images,
    };
    programs.into_iter().fold(NumberBase::default(), add)
}

impl TessellationKernel {
    fn new(pipeline: &PipelineState) -> Option<Self> {
        let linked = LinkedPatches::new(pipeline)?;
        let level = |builtin, word| {
            let slot = Slot::Builtin(builtin, word);
            linked.written.patch.iter().position(|&known| known == slot).map(|word| word as u32)
        };
        let (outer, inner) = (Builtin::TessLevelOuter, Builtin::TessLevelInner);
        let evaluation = match pipeline.geometry.as_ref().and_then(|program| program.geometry.as_ref()) {
            Some(facts) => Evaluation::Words(linked.words(&facts.inputs)),
            None => Evaluation::Vertices(linked.vertices(pipeline, false)?),
        };
        Some(Self {
            points: vertex_words(pipeline, &linked.written.inputs),
            control: Arc::new(linked.control(pipeline)),
            evaluation,
            block: linked.block,
            levels: [
                level(outer, 0),
                level(outer, 1),
                level(outer, 2),
                level(outer, 3),
                level(inner, 0),
                level(inner, 1),
            ],
            is_pure: !pipeline.has_side_effects(),
        })
    }

    /// Returns the control program. Its resources are those of all programs before rasterization.
    pub fn program(&self) -> &Arc<Program> {
        &self.control
    }

    /// Returns true if programs may run in any order.
    pub fn is_pure(&self) -> bool {
        self.is_pure
    }

    /// Returns the kernel whose vertices go to setup, or `None` if a geometry program follows.
    pub fn vertices(&self) -> Option<&VertexKernel> {
        match &self.evaluation {
            Evaluation::Vertices(kernel) => Some(kernel),
            Evaluation::Words(_) => None,
        }
    }
}

/// The programs of a pipeline during linking.
struct LinkedPatches<'a> {
    control: &'a Program,
    evaluation: &'a Program,
    /// Outputs of the control program.
    written: &'a PatchFacts,
    read: &'a PatchFacts,
    block: BlockSize,
    vertex: &'a Program,
}

impl<'a> LinkedPatches<'a> {
    fn new(pipeline: &'a PipelineState) -> Option<Self> {
        let programs = pipeline.patches.as_ref()?;
        let (control, evaluation) = (&*programs.control, &*programs.evaluation);
        let (written, read) = (control.patch.as_deref()?, evaluation.patch.as_deref()?);
        let block = BlockSize::of(written, written.vertices.or(read.vertices)?);
        Some(Self { control, evaluation, written, read, block, vertex: &pipeline.vertex })
    }

    /// Builds the control program with the resources of all programs.
    fn control(&self, pipeline: &PipelineState) -> Program {
        let before = before([self.vertex]);
        let mut linker = PatchLinker { b: Builder::new(), linked: self, program: self.control, before };
        link::append(&mut linker, self.control);
        let mut variance = [LaneVariance::Divergent; control::COUNT];
        variance[control::VERTICES as usize] = LaneVariance::Uniform;
        let mut linked = routine(linker.b, self.control, &variance, 0);
        let all = [self.vertex, self.control, self.evaluation].into_iter().chain(pipeline.geometry.as_deref());
        for program in all {
            linked.resources.extend_from_slice(&program.resources);
            linked.images += program.images;
        }
        linked.fragment.side_effects = pipeline.has_side_effects();
        linked
    }

    /// Builds the evaluation program. Returns the builder and the program's outputs.
    fn evaluate(&self) -> (Builder, Vec<Value>) {
        let before = before([self.vertex, self.control]);
        let mut linker = PatchLinker { b: Builder::new(), linked: self, program: self.evaluation, before };
        let words = link::append(&mut linker, self.evaluation);
        (linker.b, words)
    }

    fn vertices(&self, pipeline: &PipelineState, captures: bool) -> Option<VertexKernel> {
        let (b, words) = self.evaluate();
        let variance = [LaneVariance::Divergent; evaluation::COUNT];
        let results = Results::new(b, self.evaluation, words, &pipeline.raster);
        Some(results.kernel(pipeline, &variance, (!pipeline.has_side_effects(), captures)))
    }

    fn words(&self, slots: &[Option<Slot>]) -> Program {
        let (b, words) = self.evaluate();
        let b = output_words(b, (self.evaluation, &words), slots);
        routine(b, self.evaluation, &[LaneVariance::Divergent; evaluation::COUNT], slots.len())
    }

    /// Returns the offset of a patch component that a program reads or writes, bytes from the
    /// start of the block.
    fn of_patch(&self, facts: &PatchFacts, word: u32) -> u32 {
        place(facts.patch.get(word as usize), &self.written.patch).map_or(OUTSIDE_MEMORY, |place| place * 4)
    }

    /// Returns the offset of a component of the first vertex, bytes from the start of the block.
    fn of_vertex(&self, facts: &PatchFacts, word: u32) -> u32 {
        place(facts.vertex.get(word as usize), &self.written.vertex)
            .map_or(OUTSIDE_MEMORY, |place| (self.block.patch + place) * 4)
    }
}

/// Returns the index of a slot among others.
fn place(slot: Option<&Slot>, among: &[Slot]) -> Option<u32> {
    among.iter().position(|known| Some(known) == slot).map(|place| place as u32)
}

/// Builds the vertex program of a pipeline, with the given slots as outputs.
pub(crate) fn vertex_words(pipeline: &PipelineState, slots: &[Option<Slot>]) -> Program {
    let mut linker = VertexLinker::of(Builder::new(), pipeline, None);
    let words = link::append(&mut linker, &pipeline.vertex);
    let b = output_words(linker.into_builder(), (&pipeline.vertex, &words), slots);
    routine(b, &pipeline.vertex, &fetch_variance(), slots.len())
}

/// Writes outputs of a program in the given order, and 0 for outputs that the program does not
/// have.
fn output_words(mut b: Builder, (program, words): (&Program, &[Value]), slots: &[Option<Slot>]) -> Builder {
    for (number, slot) in (0..).zip(slots) {
        let word = slot.and_then(|slot| program.output(slot)).map(|output| words[output]);
        let value = word.unwrap_or_else(|| b.int(0));
        b.push(Inst::Output { slot: number, value });
    }
    b
}

/// Finishes and compiles a linked program of a stage.
fn routine(b: Builder, program: &Program, variance: &[LaneVariance], outputs: usize) -> Program {
    let mut function = b.finish();
    passes::optimize(&mut function, &mut |_, _| {});
    let mut linked = Program::routine(function, variance, outputs);
    linked.stage = program.stage;
    linked.code.generate_chosen(linked.stage, "kernel");
    linked
}

/// Linker that appends a tessellation program.
struct PatchLinker<'a> {
    b: Builder,
    linked: &'a LinkedPatches<'a>,
    program: &'a Program,
    before: NumberBase,
}

impl PatchLinker<'_> {
    /// Returns the input slot of a control program's built-in.
    fn of_control(builtin: Builtin) -> Option<u32> {
        Some(match builtin {
            Builtin::PatchBase => control::BASE,
            Builtin::VertexTable => control::TABLE,
            Builtin::InvocationId => control::INVOCATION,
            Builtin::PrimitiveId => control::PRIMITIVE,
            Builtin::PatchVertices => control::VERTICES,
            _ => return None,
        })
    }

    /// Returns the input slot of an evaluation program's built-in.
    fn of_evaluation(builtin: Builtin, word: u32) -> Option<u32> {
        Some(match builtin {
            Builtin::TessCoord => evaluation::PLACE + word.min(2),
            Builtin::PatchBase => evaluation::BASE,
            Builtin::PrimitiveId => evaluation::PRIMITIVE,
            _ => return None,
        })
    }

    /// Returns the value of a built-in that is constant once programs are linked.
    fn constant(&self, builtin: Builtin, word: u32) -> u32 {
        let is_control = std::ptr::eq(self.program, self.linked.control);
        let facts = if is_control { self.linked.written } else { self.linked.read };
        match builtin {
            Builtin::PatchOffset => self.linked.of_patch(facts, word),
            Builtin::VertexOffset => self.linked.of_vertex(facts, word),
            Builtin::VertexBytes => self.linked.block.vertex * 4,
            Builtin::PatchVertices => self.linked.block.vertices,
            _ => 0,
        }
    }
}

impl Linker for PatchLinker<'_> {
    fn builder(&mut self) -> &mut Builder {
        &mut self.b
    }

    fn input(&mut self, slot: usize, ty: Type) -> Value {
        let Slot::Builtin(builtin, word) = self.program.inputs[slot].slot else { return self.b.constant(0, ty) };
        let input = match std::ptr::eq(self.program, self.linked.control) {
            true => Self::of_control(builtin),
            false => Self::of_evaluation(builtin, word),
        };
        match input {
            Some(input) => {
                let value = self.b.input(input, Type::I32);
                self.b.cast(value, ty)
            }
            None => {
                let word = self.constant(builtin, word);
                self.b.constant(word, ty)
            }
        }
    }

    fn interpolated(&mut self, slot: usize, _: InterpolateAt, ty: Type) -> Value {
        self.input(slot, ty)
    }

    fn number_base(&self) -> NumberBase {
        self.before
    }
}
