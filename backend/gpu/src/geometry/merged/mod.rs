//! Merged vertex and geometry programs: one run of one program shades the vertices of a group of
//! primitives, and the primitives.
//!
//! A run is one wave. It shades the vertices of its primitives, sixteen at a time, into local
//! memory. Then each lane that has a primitive runs the geometry program. The geometry program
//! finds its vertices in local memory by their addresses, and stores the vertices that it emits
//! there too. The wave's inputs say which lane emits which vertices, so that one program serves
//! both modes (see [`MergedMode`]).
//!
//! Local memory stores each component for all lanes side by side. It begins with vertex indices, a
//! row of lanes for each sixteen. The components of the shaded vertices follow, then records of
//! emitted vertices (see [`GeometryFacts`]). A record of sixteen lanes has the layout of the
//! inputs of a wave of the *finish* kernel. The finish kernel is a vertex kernel that fetches
//! nothing and runs no program, so that later stages need not know of geometry programs.
//!
//! Source: DESIGN 3.7.

mod emit;
mod waves;

use std::sync::{Arc, OnceLock};

pub(super) use emit::{Emission, EmitScratch, Emitted, PrimitiveNumbers};
pub use waves::MergedMode;

use vitric_base::simd::WAVE;
use vitric_exec::Program;
use vitric_exec::link::{self, Linker, NumberBase};
use vitric_ir::interface::{Builtin, GeometryFacts, LOCAL_WORD, Slot};
use vitric_ir::passes::{self, LaneVariance};
use vitric_ir::{BinaryOp as B, Builder, Inst, InterpolateAt, Space, Type, Value};

use super::VertexKernel;
use super::kernel::{VertexLinker, fetch_variance, input as vertex_input};
use super::tessellation::before_geometry;
use crate::state::{PipelineState, corners};

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

/// Size of a wave's emitted vertices that is assumed to fit in the caches, bytes.
const MAX_PLAIN_BYTES: usize = 1 << 18;

/// Maximum number of vertices of an invocation up to which one lane emits all of them, however
/// much the wave stores.
const MAX_PLAIN_VERTICES: u32 = 4;

/// Layout of local memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MergedLayout {
    /// Number of vertices of a primitive. Local memory has room for sixteen times that many
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

    /// Returns the byte offset of a vertex, by its place among those of the wave.
    fn vertex(self, place: u32) -> u32 {
        let lanes = WAVE as u32;
        self.words() + place / lanes * self.slots * LOCAL_WORD + place % lanes * 4
    }

    /// Returns the byte offset of a record of sixteen lanes.
    fn record(self, number: u32) -> u32 {
        self.words() + (self.vertices * self.slots + number * self.record) * LOCAL_WORD
    }
}

/// The vertex and geometry programs of a pipeline as one program, and the kernel that converts
/// emitted vertices for setup.
#[derive(Debug)]
pub struct MergedKernel {
    program: Arc<Program>,
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
        let program = merged(pipeline, geometry, (&facts, layout));
        let records = &geometry.outputs[..geometry.outputs.len() - 1];
        let depends_on_wave = geometry.depends_on_wave() || pipeline.vertex.depends_on_wave();
        Some(Self {
            may_repeat: !program.fragment.side_effects && !depends_on_wave,
            finish: VertexKernel::of_records((pipeline, geometry), records, !program.fragment.side_effects),
            #[cfg(test)]
            slots: geometry.outputs.iter().map(|output| output.slot).collect(),
            primitive_id: geometry.output_builtin(Builtin::PrimitiveId, 0),
            program: Arc::new(program),
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

    /// Returns the maximum number of primitives that one input primitive becomes.
    pub fn amplification(&self) -> usize {
        let of_each = corners(self.facts.output) as u32;
        let primitives = self.facts.max_vertices.saturating_sub(of_each - 1).max(1);
        self.facts.invocations as usize * primitives as usize
    }

    /// Returns the component of a record that holds `slot`.
    #[cfg(test)]
    fn record_word(&self, slot: Slot) -> Option<usize> {
        self.slots.iter().position(|&known| known == slot)
    }

    /// Returns the mode of waves: `asked`, unless that would change the image, or else the mode
    /// that suits the size of a wave's records.
    pub fn mode(&self, asked: Option<MergedMode>) -> MergedMode {
        let stored = self.facts.max_vertices as usize * (self.layout.record * LOCAL_WORD) as usize;
        let fits = stored <= MAX_PLAIN_BYTES || self.facts.max_vertices <= MAX_PLAIN_VERTICES;
        match asked {
            _ if !self.may_repeat => MergedMode::Plain,
            Some(asked) => asked,
            None if fits => MergedMode::Plain,
            None => MergedMode::Replicated,
        }
    }
}

/// Links vertex and geometry code. Links the geometry code alone if its vertices are those of
/// subdivided patches.
fn merged(pipeline: &PipelineState, geometry: &Program, (facts, layout): (&GeometryFacts, MergedLayout)) -> Program {
    let vertex = &*pipeline.vertex;
    let b = match pipeline.patches {
        None => shade_vertices(Builder::new(), pipeline, (facts, layout)),
        Some(_) => Builder::new(),
    };
    let mut function = run_geometry(b, geometry, before_geometry(pipeline)).finish();
    passes::optimize(&mut function, &mut |_, _| {});
    let mut linked = Program::routine(function, &variance(), 1);
    linked.stage = geometry.stage;
    linked.resources = [&*vertex.resources, &*geometry.resources].concat();
    linked.images = vertex.images + geometry.images;
    linked.fragment.side_effects = pipeline.has_side_effects();
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
fn run_geometry(mut b: Builder, geometry: &Program, before: NumberBase) -> Builder {
    let (span, zero) = (b.input(input::EMIT_SPAN, Type::I32), b.int(0));
    let condition = b.binary(B::INe, span, zero);
    b.push(Inst::If { condition });
    let mut linker = GeometryLinker { b, program: geometry, before };
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
}

impl Linker for GeometryLinker<'_> {
    fn builder(&mut self) -> &mut Builder {
        &mut self.b
    }

    fn input(&mut self, slot: usize, ty: Type) -> Value {
        let Slot::Builtin(builtin, word) = self.program.inputs[slot].slot else { return self.b.constant(0, ty) };
        let input = match builtin {
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
}

#[cfg(test)]
mod tests;
