//! Merged vertex and geometry programs: one run of one program shades the vertices of a group of
//! primitives, and the primitives.
//!
//! A run is one wave. It shades the vertices of its primitives, sixteen at a time, into local
//! memory. Then each lane that has a primitive runs the geometry program. The geometry program
//! finds its vertices in local memory by their addresses, and stores the vertices that it emits
//! there too. The wave's inputs say which lane emits which vertices (see [`MergedMode`]).
//! Replicated waves run a program of their own, whose lanes leave it at their vertex.
//!
//! With `VITRIC_MERGED=off` the programs are stages of their own ([`SeparateStages`]): the vertex
//! program shades all vertices of a chunk of the draw into local memory, and waves that run the
//! geometry program alone load them from there. Vertices of subdivided patches come to the geometry
//! program in the same way, whatever the mode.
//!
//! Local memory stores each component for all lanes side by side. It begins with vertex indices, a
//! row of lanes for each sixteen. The components of the shaded vertices follow, then records of
//! emitted vertices (see [`GeometryFacts`]). A record of sixteen lanes has the layout of the
//! inputs of a wave of the *finish* kernel. The finish kernel is a vertex kernel that fetches
//! nothing and runs no program, so that later stages need not know of geometry programs.
//!
//! Source: DESIGN 3.7.

mod amplification;
mod emit;
mod waves;

use std::sync::{Arc, OnceLock};

pub(super) use emit::{Emission, EmitScratch, Emitted, PrimitiveNumbers};
pub use waves::MergedMode;

use amplification::Amplification;
use vitric_base::simd::WAVE;
use vitric_exec::Program;
use vitric_exec::link::{self, Linker, NumberBase};
use vitric_ir::interface::{Builtin, GeometryFacts, LOCAL_WORD, Slot};
use vitric_ir::passes::{self, LaneVariance};
use vitric_ir::{BinaryOp as B, Builder, Function, Inst, InterpolateAt, Local, Space, Type, Value};

use super::VertexKernel;
use super::kernel::{VertexLinker, fetch_variance, input as vertex_input};
use super::tessellation::{before_geometry, vertex_words};
use crate::state::PipelineState;

/// Input slots of a merged kernel, after those of vertex kernels. The vertex slot of the latter
/// holds the number of vertices.
mod input {
    use super::vertex_input;

    /// Number of vertices to shade.
    pub const VERTICES: u32 = vertex_input::VERTEX;
    /// Address of the first record.
    pub const EMIT_BASE: u32 = vertex_input::COUNT as u32;
    /// Mask that turns the number of a vertex into that of its record.
    pub const EMIT_MASK: u32 = EMIT_BASE + 1;
    /// First vertex that a lane stores.
    pub const EMIT_FIRST: u32 = EMIT_BASE + 2;
    /// Number of vertices that a lane stores, or 0 if the lane has no primitive.
    pub const EMIT_SPAN: u32 = EMIT_BASE + 3;
    /// Number of the primitive.
    pub const PRIMITIVE: u32 = EMIT_BASE + 4;
    /// Invocation index.
    pub const INVOCATION: u32 = EMIT_BASE + 5;
    /// First of the addresses of the vertices.
    pub const ADDRESS: u32 = EMIT_BASE + 6;
    /// Number of input slots.
    pub const COUNT: usize = ADDRESS as usize + super::MAX_VERTICES;
}

/// Maximum number of vertices of a primitive.
const MAX_VERTICES: usize = 6;

/// Layout of local memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MergedLayout {
    /// Number of vertices of a primitive. A merged wave shades at most that many rows of sixteen
    /// vertices.
    vertices: u32,
    /// Components of a vertex.
    slots: u32,
    /// Components of a record.
    record: u32,
}

impl MergedLayout {
    fn of(program: &Program, facts: &GeometryFacts) -> Self {
        let record = program.outputs.len() as u32 - 1;
        Self { vertices: facts.vertices, slots: facts.inputs.len() as u32, record }
    }

    /// Returns the byte offset of the vertices' components.
    fn words(self) -> u32 {
        self.vertices * LOCAL_WORD
    }

    /// Returns the byte offset of a vertex, by its place among those in local memory.
    fn vertex(self, place: u32) -> u32 {
        let lanes = WAVE as u32;
        self.words() + place / lanes * self.slots * LOCAL_WORD + place % lanes * 4
    }

    /// Returns the byte offset of a record of sixteen lanes, after `rows` rows of sixteen vertices.
    fn record(self, rows: u32, number: u32) -> u32 {
        self.words() + (rows * self.slots + number * self.record) * LOCAL_WORD
    }
}

/// Vertex and geometry programs that are not merged.
#[derive(Debug)]
pub(super) struct SeparateStages {
    /// The vertex program. Its outputs are the vertex components that the geometry program reads.
    pub vertex: Program,
    /// The geometry program.
    geometry: Program,
}

impl SeparateStages {
    fn new(pipeline: &PipelineState, facts: &GeometryFacts) -> Option<Self> {
        let geometry = pipeline.geometry.as_deref()?;
        let function = run_geometry(Builder::new(), geometry, (pipeline, MergedMode::Off)).finish();
        Some(Self { vertex: vertex_words(pipeline, &facts.inputs), geometry: compiled(function, geometry) })
    }
}

/// The geometry stage of a draw.
#[derive(Debug, Clone, Copy)]
pub struct GeometryStage<'a> {
    /// The kernel.
    pub kernel: &'a MergedKernel,
    /// Assignment of invocations to lanes.
    pub mode: MergedMode,
    /// The program that runs invocations.
    program: &'a Program,
    /// The stages, if they are not merged.
    pub(super) separate: Option<&'a SeparateStages>,
}

/// The vertex and geometry programs of a pipeline as one program, and the kernel that converts
/// emitted vertices for setup.
#[derive(Debug)]
pub struct MergedKernel {
    /// The program for waves that are not replicated.
    program: Arc<Program>,
    /// The program for replicated waves, compiled when the first draw needs it.
    replicated: OnceLock<Option<Program>>,
    /// The programs as stages of their own, compiled when the first draw needs them.
    separate: OnceLock<Option<SeparateStages>>,
    finish: VertexKernel,
    facts: GeometryFacts,
    layout: MergedLayout,
    /// Component of a record that holds the primitive's number.
    primitive_id: Option<usize>,
    /// Slots of a record's components.
    #[cfg(test)]
    slots: Vec<Slot>,
    /// True if a primitive may be run more than once.
    may_repeat: bool,
    amplification: Amplification,
}

/// The merged kernel of a pipeline, linked and compiled once.
#[derive(Debug, Default)]
pub struct LazyMergedKernel(OnceLock<Option<MergedKernel>>);

impl LazyMergedKernel {
    /// Returns the kernel, or `None` if the pipeline has no geometry program.
    pub fn get(&self, pipeline: &PipelineState) -> Option<&MergedKernel> {
        self.0.get_or_init(|| MergedKernel::new(pipeline)).as_ref()
    }
}

impl MergedKernel {
    fn new(pipeline: &PipelineState) -> Option<Self> {
        let geometry = pipeline.geometry.as_deref()?;
        let facts = (**geometry.geometry.as_ref()?).clone();
        let layout = MergedLayout::of(geometry, &facts);
        let program = merged(pipeline, geometry, (&facts, layout), MergedMode::Plain);
        let records = &geometry.outputs[..geometry.outputs.len() - 1];
        let depends_on_wave = geometry.depends_on_wave() || pipeline.vertex.depends_on_wave();
        Some(Self {
            may_repeat: !program.fragment.side_effects && !depends_on_wave,
            finish: VertexKernel::of_records((pipeline, geometry), records, !program.fragment.side_effects),
            #[cfg(test)]
            slots: geometry.outputs.iter().map(|output| output.slot).collect(),
            primitive_id: geometry.output_builtin(Builtin::PrimitiveId, 0),
            amplification: Amplification::new(&facts),
            program: Arc::new(program),
            replicated: OnceLock::new(),
            separate: OnceLock::new(),
            facts,
            layout,
        })
    }

    /// Returns the program, which lists its resources and side effects.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Returns the kernel that converts emitted vertices for setup.
    pub fn finish(&self) -> &VertexKernel {
        &self.finish
    }

    /// Returns the number of vertices of an input primitive.
    pub fn vertices(&self) -> usize {
        self.facts.vertices as usize
    }

    /// Returns the expected number of primitives that one input primitive becomes.
    pub fn amplification(&self) -> usize {
        match self.may_repeat {
            true => self.amplification.expected(),
            // Effects and wave operations must not depend on earlier draws.
            false => self.amplification.max(),
        }
    }

    /// Returns the lowest number of input primitives whose invocations fill whole waves.
    pub fn primitives_of_waves(&self) -> usize {
        let shared = 1 << self.facts.invocations.trailing_zeros();
        WAVE / shared.min(WAVE)
    }

    /// Returns the component of a record that holds `slot`.
    #[cfg(test)]
    fn record_word(&self, slot: Slot) -> Option<usize> {
        self.slots.iter().position(|&known| known == slot)
    }

    /// Returns the geometry stage of a draw with the kernel's pipeline.
    pub fn stage(&self, pipeline: &PipelineState, asked: Option<MergedMode>) -> GeometryStage<'_> {
        let mode = self.mode(asked);
        // The program runs without vertex code already if its vertices are those of patches.
        let is_separate = mode == MergedMode::Off && pipeline.patches.is_none();
        let stages = || self.separate.get_or_init(|| SeparateStages::new(pipeline, &self.facts)).as_ref();
        let separate = is_separate.then(stages).flatten();
        let (mode, program) = match (separate, mode) {
            (Some(stages), _) => (mode, &stages.geometry),
            (_, MergedMode::Replicated) => match self.replicated(pipeline) {
                Some(program) => (mode, program),
                None => (MergedMode::Plain, &*self.program),
            },
            _ => (mode, &*self.program),
        };
        GeometryStage { kernel: self, mode, program, separate }
    }

    /// Returns the program of the mode of replicated primitives, or `None` if the pipeline has no
    /// geometry program.
    fn replicated(&self, pipeline: &PipelineState) -> Option<&Program> {
        let make = || {
            let geometry = pipeline.geometry.as_deref()?;
            Some(merged(pipeline, geometry, (&self.facts, self.layout), MergedMode::Replicated))
        };
        self.replicated.get_or_init(make).as_ref()
    }

    /// Returns the mode of waves: `asked`, unless that would change the image. The default is one
    /// lane for each invocation, which no measured program runs slower than the other modes.
    fn mode(&self, asked: Option<MergedMode>) -> MergedMode {
        match asked {
            Some(MergedMode::Replicated) if !self.may_repeat => MergedMode::Plain,
            Some(asked) => asked,
            None => MergedMode::Plain,
        }
    }
}

/// Links vertex and geometry code. Links the geometry code alone if its vertices are those of
/// subdivided patches.
fn merged(
    pipeline: &PipelineState,
    geometry: &Program,
    (facts, layout): (&GeometryFacts, MergedLayout),
    mode: MergedMode,
) -> Program {
    let vertex = &*pipeline.vertex;
    let b = match pipeline.patches {
        None => shade_vertices(Builder::new(), pipeline, (facts, layout)),
        Some(_) => Builder::new(),
    };
    let function = run_geometry(b, geometry, (pipeline, mode)).finish();
    let mut linked = compiled(function, geometry);
    linked.resources = [&*vertex.resources, &*geometry.resources].concat();
    linked.images = vertex.images + geometry.images;
    linked.fragment.side_effects = pipeline.has_side_effects();
    linked
}

/// Optimizes and compiles a linked program.
fn compiled(mut function: Function, geometry: &Program) -> Program {
    passes::optimize(&mut function, &mut |_, _| {});
    let mut linked = Program::routine(function, &variance(), 1);
    linked.stage = geometry.stage;
    linked.code.generate_chosen(linked.stage, "kernel");
    linked
}

/// Appends vertex code for all rows of sixteen vertices.
fn shade_vertices(mut b: Builder, pipeline: &PipelineState, to: (&GeometryFacts, MergedLayout)) -> Builder {
    let row = b.local(1);
    b.push(Inst::Loop);
    let number = b.local_load(row, 0, None, Type::I32);
    let (sixteen, count) = (b.int(WAVE as u32), b.input(input::VERTICES, Type::I32));
    let first = b.binary(B::IMul, number, sixteen);
    let is_over = b.binary(B::ULe, count, first);
    b.push(Inst::If { condition: is_over });
    b.push(Inst::Break { depth: 0 });
    b.push(Inst::EndIf);
    let mut b = shade_row(b, pipeline, to, VertexRow { number, first });
    b.push(Inst::Continuing);
    let (number, one) = (b.local_load(row, 0, None, Type::I32), b.int(1));
    let next = b.binary(B::IAdd, number, one);
    b.local_store(row, 0, None, next);
    b.push(Inst::EndLoop);
    b
}

/// Appends geometry code for the lanes that have a primitive.
fn run_geometry(mut b: Builder, geometry: &Program, (pipeline, mode): (&PipelineState, MergedMode)) -> Builder {
    let (span, zero) = (b.input(input::EMIT_SPAN, Type::I32), b.int(0));
    let condition = b.binary(B::INe, span, zero);
    b.push(Inst::If { condition });
    let left = (mode == MergedMode::Replicated).then(|| b.local(1));
    let mut linker = GeometryLinker { b, program: geometry, before: before_geometry(pipeline), left };
    let outputs = link::append(&mut linker, geometry);
    let mut b = linker.b;
    if let Some(&value) = outputs.last() {
        b.push(Inst::Output { slot: 0, value });
    }
    b.push(Inst::EndIf);
    b
}

/// Returns how each input of a merged kernel varies from lane to lane.
fn variance() -> [LaneVariance; input::COUNT] {
    let mut variance = [LaneVariance::Divergent; input::COUNT];
    variance[..vertex_input::COUNT].copy_from_slice(&fetch_variance());
    for same in [input::VERTICES, input::EMIT_BASE, input::EMIT_MASK] {
        variance[same as usize] = LaneVariance::Uniform;
    }
    variance
}

/// A row of sixteen vertices in local memory.
struct VertexRow {
    /// Number of the row.
    number: Value,
    /// Place of the row's first vertex.
    first: Value,
}

/// Appends vertex code for a row of vertices. Stores the components that the geometry program reads
/// in local memory.
fn shade_row(
    mut b: Builder,
    pipeline: &PipelineState,
    (facts, layout): (&GeometryFacts, MergedLayout),
    VertexRow { number, first }: VertexRow,
) -> Builder {
    let (lane, two, six) = (b.lane(), b.int(2), b.int(LOCAL_WORD.ilog2()));
    let place = b.binary(B::IAdd, first, lane);
    let count = b.input(input::VERTICES, Type::I32);
    let condition = b.binary(B::ULt, place, count);
    b.push(Inst::If { condition });
    let (lane, row) = (b.binary(B::Shl, lane, two), b.binary(B::Shl, number, six));
    let at = b.binary(B::IAdd, row, lane);
    let vertex = b.load(Space::Shared, at, Type::I32);
    let mut linker = VertexLinker::of(b, pipeline, Some(vertex));
    let words = link::append_in_loop(&mut linker, &pipeline.vertex);
    let mut b = linker.into_builder();
    let bytes = b.int(layout.slots * LOCAL_WORD);
    let row = b.binary(B::IMul, number, bytes);
    let start = b.binary(B::IAdd, row, lane);
    for (slot, word) in facts.inputs.iter().enumerate() {
        let Some(word) = word else { continue };
        let value = pipeline.vertex.output(*word).map(|output| words[output]);
        let value = value.unwrap_or_else(|| b.int(0));
        let offset = b.int(layout.vertex(0) + slot as u32 * LOCAL_WORD);
        let offset = b.binary(B::IAdd, start, offset);
        b.push(Inst::Store { space: Space::Shared, offset, value });
    }
    b.push(Inst::EndIf);
    b
}

/// Linker that appends a geometry program.
struct GeometryLinker<'a> {
    b: Builder,
    program: &'a Program,
    before: NumberBase,
    /// Marks lanes of replicated waves that left the program at their only vertex. With `None`,
    /// lanes emit all vertices. The front end's code for both cases then folds to that of this one.
    left: Option<Local>,
}

impl Linker for GeometryLinker<'_> {
    fn builder(&mut self) -> &mut Builder {
        &mut self.b
    }

    fn input(&mut self, slot: usize, ty: Type) -> Value {
        let Slot::Builtin(builtin, word) = self.program.inputs[slot].slot else { return self.b.constant(0, ty) };
        let max_vertices = self.program.geometry.as_ref().map_or(0, |facts| facts.max_vertices);
        let input = match builtin {
            Builtin::EmitMask if self.left.is_none() => return self.b.constant(u32::MAX, ty),
            Builtin::EmitFirst if self.left.is_none() => return self.b.constant(0, ty),
            Builtin::EmitSpan if self.left.is_none() => return self.b.constant(max_vertices, ty),
            Builtin::VertexAddress => input::ADDRESS + word.min(MAX_VERTICES as u32 - 1),
            Builtin::EmitBase => input::EMIT_BASE,
            Builtin::EmitMask => input::EMIT_MASK,
            Builtin::EmitFirst => input::EMIT_FIRST,
            Builtin::EmitSpan => input::EMIT_SPAN,
            Builtin::PrimitiveId => input::PRIMITIVE,
            Builtin::InvocationId => input::INVOCATION,
            _ => return self.b.constant(0, ty),
        };
        let value = self.b.input(input, Type::I32);
        self.b.cast(value, ty)
    }

    fn interpolated(&mut self, slot: usize, _: InterpolateAt, ty: Type) -> Value {
        self.input(slot, ty)
    }

    fn number_base(&self) -> NumberBase {
        self.before
    }

    fn ended(&self) -> Option<Local> {
        self.left
    }
}

#[cfg(test)]
mod tests;
