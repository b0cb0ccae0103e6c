//! Merged vertex and geometry programs: the vertices of some primitives and the primitives are shaded by one run of one program.
//!
//! A run is of one wave. It shades the vertices that its primitives name, sixteen at a time, into local memory; then each lane that has a
//! primitive runs the geometry program, which finds its vertices there by their addresses and leaves those that it emits there, too. Who
//! emits what is said by the wave's inputs, so that one program serves both modes (see [`Mode`]).
//!
//! Local memory has a word of each lane side by side: numbers of vertices, a row of lanes for each sixteen; then the words of each sixteen
//! vertices; then records of emitted vertices (see [`GeometryFacts`]). A record of sixteen lanes is what a wave of the *finish* kernel
//! takes as its inputs as it stands: it is a vertex kernel that fetches nothing and runs no program, so that what comes behind it knows
//! nothing of geometry programs. Source: DESIGN 3.7.

mod emit;
mod waves;

use std::sync::{Arc, OnceLock};

pub(super) use emit::{Emission, EmitScratch, Emitted, PrimitiveNumbers};
pub use waves::Mode;
pub(super) use waves::Mode as MergedMode;

use vitric_base::simd::WAVE;
use vitric_exec::Program;
use vitric_exec::link::{self, Before, Linker};
use vitric_ir::interface::{Builtin, GeometryFacts, LOCAL_WORD, Slot};
use vitric_ir::passes::{self, LaneVariance};
use vitric_ir::{BinaryOp as B, Builder, Inst, InterpolateAt, Space, Type, Value};

use super::VertexKernel;
use super::kernel::{VertexLinker, fetch_variance, input as vertex_input};
use super::tessellation::before_geometry;
use crate::state::{PipelineState, corners};

/// Input words of a merged kernel, behind those of vertex kernels; the first of those is how many vertices there are.
mod input {
    use super::vertex_input;

    /// How many vertices are shaded.
    pub const VERTICES: u32 = vertex_input::VERTEX;
    /// Where records begin.
    pub const EMIT_BASE: u32 = vertex_input::COUNT as u32;
    /// What the number of a vertex is masked by to give that of its record.
    pub const EMIT_MASK: u32 = EMIT_BASE + 1;
    /// The first vertex that a lane stores.
    pub const EMIT_FIRST: u32 = EMIT_BASE + 2;
    /// How many it stores; 0: the lane has no primitive.
    pub const EMIT_SPAN: u32 = EMIT_BASE + 3;
    /// Number of the primitive.
    pub const PRIMITIVE: u32 = EMIT_BASE + 4;
    /// Number of the invocation.
    pub const INVOCATION: u32 = EMIT_BASE + 5;
    /// Addresses of the vertices.
    pub const ADDRESS: u32 = EMIT_BASE + 6;
    /// How many there are.
    pub const COUNT: usize = ADDRESS as usize + super::MAX_VERTICES;
}

/// Most vertices of a primitive.
const MAX_VERTICES: usize = 6;

/// Bytes of emitted vertices of a wave that are taken to be on the chip.
const ON_CHIP: usize = 1 << 18;

/// Vertices of an invocation up to which the wave that emits all of them is kept, however much it stores.
const FEW: u32 = 4;

/// Where things are in local memory, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    /// Vertices of a primitive: so many times sixteen vertices there are at most.
    vertices: u32,
    /// Words of a vertex.
    slots: u32,
    /// Words of a record.
    record: u32,
}

impl Layout {
    fn of(program: &Program, facts: &GeometryFacts) -> Self {
        let record = program.outputs.len() as u32 - 1;
        Self { vertices: facts.vertices, slots: facts.inputs.len() as u32, record }
    }

    /// The words of the vertices.
    fn words(self) -> u32 {
        self.vertices * LOCAL_WORD
    }

    /// A vertex, by its place among those of the wave.
    fn vertex(self, place: u32) -> u32 {
        let lanes = WAVE as u32;
        self.words() + place / lanes * self.slots * LOCAL_WORD + place % lanes * 4
    }

    /// A record of sixteen lanes.
    fn record(self, number: u32) -> u32 {
        self.words() + (self.vertices * self.slots + number * self.record) * LOCAL_WORD
    }
}

/// The vertex and the geometry program of a pipeline, as one, and what makes vertices for set-up of those that it emits.
#[derive(Debug)]
pub struct MergedKernel {
    program: Arc<Program>,
    finish: VertexKernel,
    facts: GeometryFacts,
    layout: Layout,
    /// The word of a record that is the primitive's number.
    primitive_id: Option<usize>,
    /// What the words of a record are.
    #[cfg(test)]
    slots: Vec<Slot>,
    /// Whether a primitive may be run more often than once.
    may_repeat: bool,
}

/// The merged kernel of a pipeline, linked and compiled once.
#[derive(Debug, Default)]
pub struct LazyMergedKernel(OnceLock<Option<MergedKernel>>);

impl LazyMergedKernel {
    /// The kernel; none, where the pipeline has no geometry program.
    pub fn get(&self, pipeline: &PipelineState) -> Option<&MergedKernel> {
        self.0.get_or_init(|| MergedKernel::new(pipeline)).as_ref()
    }
}

impl MergedKernel {
    fn new(pipeline: &PipelineState) -> Option<Self> {
        let geometry = pipeline.geometry.as_deref()?;
        let facts = (**geometry.geometry.as_ref()?).clone();
        let layout = Layout::of(geometry, &facts);
        let program = merged(pipeline, geometry, (&facts, layout));
        let records = &geometry.outputs[..geometry.outputs.len() - 1];
        let looks_across = geometry.looks_across() || pipeline.vertex.looks_across();
        Some(Self {
            may_repeat: !program.fragment.side_effects && !looks_across,
            finish: VertexKernel::of_records((pipeline, geometry), records, !program.fragment.side_effects),
            #[cfg(test)]
            slots: geometry.outputs.iter().map(|output| output.slot).collect(),
            primitive_id: geometry.output_builtin(Builtin::PrimitiveId, 0),
            program: Arc::new(program),
            facts,
            layout,
        })
    }

    /// The program: what its resources are, and whether it has side effects.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// What makes vertices for set-up of those that are emitted.
    pub fn finish(&self) -> &VertexKernel {
        &self.finish
    }

    /// Vertices of a primitive that comes.
    pub fn vertices(&self) -> usize {
        self.facts.vertices as usize
    }

    /// Most primitives that become of one that comes.
    pub fn amplification(&self) -> usize {
        let of_each = corners(self.facts.output) as u32;
        let primitives = self.facts.max_vertices.saturating_sub(of_each - 1).max(1);
        self.facts.invocations as usize * primitives as usize
    }

    /// The word of a record that is `slot`.
    #[cfg(test)]
    fn record_word(&self, slot: Slot) -> Option<usize> {
        self.slots.iter().position(|&known| known == slot)
    }

    /// How waves are made: as asked, where that leaves images as they are, else by what a wave stores.
    pub fn mode(&self, asked: Option<Mode>) -> Mode {
        let stored = self.facts.max_vertices as usize * (self.layout.record * LOCAL_WORD) as usize;
        let fits = stored <= ON_CHIP || self.facts.max_vertices <= FEW;
        match asked {
            _ if !self.may_repeat => Mode::Plain,
            Some(asked) => asked,
            None if fits => Mode::Plain,
            None => Mode::Replicated,
        }
    }
}

/// Links vertex code, patch code and geometry code; the last alone, where vertices are those of subdivided patches.
fn merged(pipeline: &PipelineState, geometry: &Program, (facts, layout): (&GeometryFacts, Layout)) -> Program {
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

/// Vertex code for all rows of sixteen vertices.
fn shade_vertices(mut b: Builder, pipeline: &PipelineState, to: (&GeometryFacts, Layout)) -> Builder {
    let row = b.local(1);
    b.push(Inst::Loop);
    let number = b.local_load(row, 0, None, Type::I32);
    let (sixteen, count) = (b.int(WAVE as u32), b.input(input::VERTICES, Type::I32));
    let first = b.binary(B::IMul, number, sixteen);
    let is_over = b.binary(B::ULe, count, first);
    b.push(Inst::If { condition: is_over });
    b.push(Inst::Break { depth: 0 });
    b.push(Inst::EndIf);
    let mut b = shade_row(b, pipeline, to, (number, first));
    b.push(Inst::Continuing);
    let (number, one) = (b.local_load(row, 0, None, Type::I32), b.int(1));
    let next = b.binary(B::IAdd, number, one);
    b.local_store(row, 0, None, next);
    b.push(Inst::EndLoop);
    b
}

/// Geometry code for the lanes that have a primitive.
fn run_geometry(mut b: Builder, geometry: &Program, before: Before) -> Builder {
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

/// How the inputs of a merged kernel differ from lane to lane.
fn variance() -> [LaneVariance; input::COUNT] {
    let mut variance = [LaneVariance::Divergent; input::COUNT];
    variance[..vertex_input::COUNT].copy_from_slice(&fetch_variance());
    for same in [input::VERTICES, input::EMIT_BASE, input::EMIT_MASK] {
        variance[same as usize] = LaneVariance::Uniform;
    }
    variance
}

/// Vertex code for sixteen vertices, the first of them with a place, and patch code: what the geometry program reads goes to local memory.
fn shade_row(
    mut b: Builder,
    pipeline: &PipelineState,
    (facts, layout): (&GeometryFacts, Layout),
    (number, first): (Value, Value),
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
    let words = link::append_anew(&mut linker, &pipeline.vertex);
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

/// Appends a geometry program.
struct GeometryLinker<'a> {
    b: Builder,
    program: &'a Program,
    before: Before,
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

    fn before(&self) -> Before {
        self.before
    }
}

#[cfg(test)]
mod tests;
