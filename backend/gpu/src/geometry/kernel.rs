//! Vertex kernels: a vertex program, with the fetch of its attributes before it and the viewport transform behind it, as one
//! program.
//!
//! What a vertex lies outside of, and its place in the window, are outputs like positions and varyings: set-up reads words.
//! Source: Vulkan specification, "Fixed-Function Vertex Processing", "Vertex Post-Processing".

use std::sync::OnceLock;

use ash::vk;
use smallvec::SmallVec;
use vitric_exec::runtime::rows::CACHE_LINE;
use vitric_exec::{Program, format_ir as routines, link};
use vitric_format as format;
use vitric_format::FormatInfo;
use vitric_ir::interface::{Builtin, OutputSlot, Slot};
use vitric_ir::passes::{self, LaneVariance};
use vitric_ir::{BinaryOp as B, Builder, Inst, InterpolateAt, Space, Type, UnaryOp as U, Value};

use super::clip::SMALLEST_W;
use super::cull_heuristic::CullHeuristic;
use crate::state::{PipelineState, RasterState, VertexAttribute, VertexBinding};

/// Input words of a vertex kernel.
pub(super) mod input {
    /// Number of the vertex.
    pub const VERTEX: u32 = 0;
    /// Number of the instance.
    pub const INSTANCE: u32 = 1;
    /// What was added to the vertex.
    pub const BASE_VERTEX: u32 = 2;
    /// What was added to the instance.
    pub const BASE_INSTANCE: u32 = 3;
    /// Number of the draw.
    pub const DRAW: u32 = 4;
    /// How many there are.
    pub const COUNT: usize = 5;
}

/// Output words of a vertex kernel.
pub(super) mod output {
    /// Window coordinates x, y, z, and 1/w.
    pub const WINDOW: usize = 0;
    /// The varyings: what is kept of a vertex stands together.
    pub const VARYINGS: usize = 4;
    /// Bits of `outside`, from the end of the varyings on.
    pub const OUTSIDE: usize = 0;
    /// Clip coordinates, from there.
    pub const POSITION: usize = 1;
    /// Point size, from there.
    pub const POINT_SIZE: usize = 5;
    /// Clip distances, from there; behind them numbers of viewport and layer where the program gives any.
    pub const CLIP: usize = 6;
}

/// Output words of the part of a vertex kernel that is about positions.
pub(super) mod position {
    /// Window coordinates x, y and z.
    pub const WINDOW: usize = 0;
    /// Bits of `outside`.
    pub const OUTSIDE: usize = 3;
    /// How many there are.
    pub const COUNT: usize = 4;
}

/// Bits of what a vertex lies outside of.
pub(super) mod outside {
    /// First of the seven planes of the view volume.
    pub const PLANE: u32 = 0;
    /// First of the clip distances.
    pub const CLIP: u32 = 7;
    /// First of the cull distances.
    pub const CULL: u32 = 15;
    /// The position is no number.
    pub const NOWHERE: u32 = 23;
    /// First of the four sides of the view volume itself, which lie within the guard band's.
    pub const SIDE: u32 = 24;
    /// All planes and clip distances.
    pub const CLIPPED: u32 = (1 << CULL) - 1;
    /// All cull distances.
    const CULLED: u32 = 0xff << CULL;
    /// All sides.
    pub const BESIDE: u32 = 0xf << SIDE;
    /// Nothing is left of a primitive all of whose vertices lie outside of one of these.
    pub const REJECTED: u32 = CLIPPED | CULLED | BESIDE;
}

/// Most clip distances, and most cull distances.
const MAX_DISTANCES: u32 = 8;

/// First parameter behind those of the viewport: the bytes of each binding's buffer, where attributes are read exactly.
const LIMITS: u32 = 7;

/// A byte that no buffer has.
const NOWHERE: u32 = 0xffff_ff00;

/// A byte behind all that buffers have, where elements begin that do not fit.
const FAR: u32 = 0x8000_0000;

/// A vertex program of a pipeline, linked.
#[derive(Debug)]
pub struct VertexKernel {
    pub(super) program: Program,
    /// Words that are handed over to fragments.
    pub(super) varyings: usize,
    /// Whether it gives numbers of viewports and layers.
    pub(super) routes: bool,
    /// Words at the end that transform feedback writes.
    pub(super) captured: usize,
    is_pure: bool,
}

/// What of a vertex program is about positions, linked, and whether it pays to run it first.
#[derive(Debug)]
pub struct PositionKernel {
    pub(super) program: Program,
    /// What it fetches vertex by vertex, of which each line is needed: the range, and bytes from a vertex to the next.
    pub(super) streams: SmallVec<[(u32, u32); 2]>,
    /// What it costs, and has gained.
    pub balance: CullHeuristic,
}

/// The vertex kernels of a pipeline, linked and compiled once.
#[derive(Debug, Default)]
pub struct LazyVertexKernel {
    full: OnceLock<VertexKernel>,
    captured: OnceLock<VertexKernel>,
    positions: OnceLock<PositionKernel>,
}

impl LazyVertexKernel {
    /// The kernel.
    pub fn get(&self, pipeline: &PipelineState) -> &VertexKernel {
        self.full.get_or_init(|| VertexKernel::new(pipeline, false))
    }

    /// The kernel that gives also what transform feedback writes, in the order of a [`super::CapturePlan`].
    pub fn captured(&self, pipeline: &PipelineState) -> &VertexKernel {
        self.captured.get_or_init(|| VertexKernel::new(pipeline, true))
    }

    /// What gives no more than positions.
    pub fn positions(&self, pipeline: &PipelineState) -> &PositionKernel {
        self.positions.get_or_init(|| {
            let program = linked(pipeline, "position kernel", |results| results.finish_positions());
            let balance = CullHeuristic::new(program.code.function(), self.get(pipeline).program.code.function());
            let of_vertices = |binding: &VertexBinding| {
                binding.rate == vk::VertexInputRate::VERTEX && binding.stride as usize <= CACHE_LINE
            };
            let ranges = (0..).zip(&pipeline.bindings).filter(|(_, binding)| of_vertices(binding));
            let is_read = |number: u32| {
                let reads = |inst: &Inst| matches!(inst, Inst::Load { space: Space::Range(of), .. } if *of == number);
                program.code.function().insts.iter().any(reads)
            };
            let streams =
                ranges.filter(|(number, _)| is_read(*number)).map(|(number, binding)| (number, binding.stride));
            PositionKernel { streams: streams.collect(), program, balance }
        })
    }
}

impl VertexKernel {
    fn new(pipeline: &PipelineState, captures: bool) -> Self {
        if pipeline.mesh().is_some() {
            let program = &pipeline.vertex;
            return Self::of_records((pipeline, program), &program.outputs, !program.fragment.side_effects);
        }
        let mut captured = 0;
        let program = linked(pipeline, "kernel", |results| results.finish_all(pipeline, captures, &mut captured));
        let (varyings, vertex) = (pipeline.varyings().count(), &*pipeline.vertex);
        Self { program, varyings, routes: vertex.routes(), captured, is_pure: !vertex.fragment.side_effects }
    }

    /// What makes vertices for set-up of words that a program has left, which are its inputs: it runs nothing, and fetches nothing.
    pub(super) fn of_records(
        (pipeline, program): (&PipelineState, &Program),
        records: &[OutputSlot],
        is_pure: bool,
    ) -> Self {
        let mut b = Builder::new();
        let words = (0..).zip(records).map(|(slot, output)| b.input(slot, output.ty)).collect();
        let variance = vec![LaneVariance::Divergent; records.len()];
        Results::new(b, program, words, &pipeline.raster).kernel(pipeline, &variance, (is_pure, false))
    }

    /// Whether waves may run in any order.
    pub fn is_pure(&self) -> bool {
        self.is_pure
    }
}

/// How the inputs of a vertex kernel differ from lane to lane.
pub(super) fn fetch_variance() -> [LaneVariance; input::COUNT] {
    let mut variance = [LaneVariance::Uniform; input::COUNT];
    variance[input::VERTEX as usize] = LaneVariance::Divergent;
    variance
}

/// A pipeline's vertex program with fetch for its attributes, and what writes the outputs and says how many there are.
fn linked(pipeline: &PipelineState, name: &str, finish: impl FnOnce(&mut Results<'_>) -> usize) -> Program {
    let program = &*pipeline.vertex;
    let mut linker = VertexLinker::of(Builder::new(), pipeline, None);
    let words = link::append(&mut linker, program);
    let results = Results::new(linker.b, program, words, &pipeline.raster);
    let mut linked = results.program(&fetch_variance(), name, finish);
    linked.resources.clone_from(&program.resources);
    linked
}

/// Appends a vertex program, with fetch for its attributes.
pub(super) struct VertexLinker<'a> {
    b: Builder,
    pipeline: &'a PipelineState,
    /// The vertex' number, where it is no input.
    vertex: Option<Value>,
}

impl<'a> VertexLinker<'a> {
    /// Behind what was built so far. The number of the vertex is an input, or a value.
    pub(super) fn of(b: Builder, pipeline: &'a PipelineState, vertex: Option<Value>) -> Self {
        Self { b, pipeline, vertex }
    }

    /// What was built.
    pub(super) fn into_builder(self) -> Builder {
        self.b
    }

    fn vertex(&mut self) -> Value {
        self.vertex.unwrap_or_else(|| self.b.input(input::VERTEX, Type::I32))
    }
}

impl link::Linker for VertexLinker<'_> {
    fn builder(&mut self) -> &mut Builder {
        &mut self.b
    }

    fn input(&mut self, slot: usize, ty: Type) -> Value {
        let value = match self.pipeline.vertex.inputs[slot].slot {
            Slot::Location { location, component, .. } => self.attribute(location, component as usize),
            Slot::Builtin(builtin, _) => self.builtin(builtin),
        };
        self.b.cast(value, ty)
    }

    fn interpolated(&mut self, slot: usize, _: InterpolateAt, ty: Type) -> Value {
        self.input(slot, ty)
    }
}

impl VertexLinker<'_> {
    fn builtin(&mut self, builtin: Builtin) -> Value {
        let slot = match builtin {
            Builtin::VertexIndex => return self.vertex(),
            Builtin::InstanceIndex => input::INSTANCE,
            Builtin::BaseVertex => input::BASE_VERTEX,
            Builtin::BaseInstance => input::BASE_INSTANCE,
            Builtin::DrawIndex => input::DRAW,
            _ => return self.b.int(0),
        };
        self.b.input(slot, Type::I32)
    }

    /// A component of an attribute; 0 where the pipeline has none.
    fn attribute(&mut self, location: u32, component: usize) -> Value {
        let attributes = &self.pipeline.attributes;
        let found = attributes.iter().find_map(|attribute| {
            let info = format::info(attribute.format)?;
            // What does not fit into a location goes on in the next.
            let part = match location.checked_sub(attribute.location)? {
                0 => (info, 0),
                1 => (info.second_half()?, 16),
                _ => return None,
            };
            let bindings = self.pipeline.bindings.iter().enumerate();
            let (range, binding) = bindings.into_iter().find(|(_, binding)| binding.binding == attribute.binding)?;
            Some((*attribute, range as u32, *binding, part))
        });
        let Some((attribute, range, binding, part)) = found else { return self.b.int(0) };
        let words = self.fetched(&attribute, range, &binding, part);
        routines::decode(&mut self.b, part.0, &words)[component]
    }

    /// Where an attribute lies. Where attributes are read exactly, one that is not wholly in its buffer lies outside of all.
    fn address(&mut self, attribute: &VertexAttribute, range: u32, binding: &VertexBinding) -> Value {
        let start = self.element(binding);
        let offset = self.b.int(attribute.offset);
        let at = self.b.binary(B::IAdd, start, offset);
        if !self.pipeline.exact_vertices {
            return at;
        }
        let bytes = self.b.int(format::info(attribute.format).map_or(0, |info| info.bytes));
        let (end, limit) = (self.b.binary(B::IAdd, at, bytes), self.b.parameter(LIMITS + range, None, Type::I32));
        let (outside, nowhere) = (self.b.binary(B::ULt, limit, end), self.b.int(NOWHERE));
        self.b.select(outside, nowhere, at)
    }

    /// The words of a part of an attribute in memory, so many bytes behind its start; what lies outside of the buffer is 0.
    fn fetched(
        &mut self,
        attribute: &VertexAttribute,
        range: u32,
        binding: &VertexBinding,
        (part, behind): (&FormatInfo, u32),
    ) -> routines::Words {
        let mut at = self.address(attribute, range, binding);
        if behind > 0 {
            let behind = self.b.int(behind);
            at = self.b.binary(B::IAdd, at, behind);
        }
        let (space, count) = (Space::Range(range), routines::words(part));
        if binding.stride.is_multiple_of(4) && attribute.offset.is_multiple_of(4) {
            return (0..count as u32).map(|word| self.word(space, at, word)).collect();
        }
        let (mask, low, three) = (self.b.int(!3), self.b.int(3), self.b.int(3));
        let (first, byte) = (self.b.binary(B::And, at, mask), self.b.binary(B::And, at, low));
        let (shift, all) = (self.b.binary(B::Shl, byte, three), self.b.int(32));
        let back = self.b.binary(B::ISub, all, shift);
        let words: routines::Words = (0..=count as u32).map(|word| self.word(space, first, word)).collect();
        // Shifts by 32 give 0.
        let joined = |pair: &[Value]| {
            let low = self.b.binary(B::ShrLogical, pair[0], shift);
            let high = self.b.binary(B::Shl, pair[1], back);
            self.b.binary(B::Or, low, high)
        };
        words.windows(2).map(joined).collect()
    }

    fn word(&mut self, space: Space, at: Value, word: u32) -> Value {
        let step = self.b.int(word * 4);
        let at = self.b.binary(B::IAdd, at, step);
        self.b.load(space, at, Type::I32)
    }

    /// Byte at which the element of a binding starts; far outside where that does not fit.
    fn element(&mut self, binding: &VertexBinding) -> Value {
        let number = match binding.rate {
            vk::VertexInputRate::INSTANCE => self.instance(binding.divisor),
            _ => self.vertex(),
        };
        // The first element that starts there is as good as any behind it; the product fits.
        let first_far = self.b.int(FAR.div_ceil(binding.stride.max(1)));
        let (stride, far) = (self.b.int(binding.stride), self.b.int(FAR));
        let number = self.b.binary(B::UMin, number, first_far);
        let start = self.b.binary(B::IMul, number, stride);
        self.b.binary(B::UMin, start, far)
    }
}

impl VertexLinker<'_> {
    /// Number of the element of an instance, when so many have one in common.
    fn instance(&mut self, divisor: u32) -> Value {
        let (first, instance) = (input::BASE_INSTANCE, input::INSTANCE);
        let [first, instance] = [first, instance].map(|slot| self.b.input(slot, Type::I32));
        match divisor {
            0 => first,
            1 => instance,
            _ => {
                let (number, divisor) = (self.b.binary(B::ISub, instance, first), self.b.int(divisor));
                let element = self.b.binary(B::UDiv, number, divisor);
                self.b.binary(B::IAdd, first, element)
            }
        }
    }
}

/// What follows the last program before primitives are set up.
pub(super) struct Results<'a> {
    b: Builder,
    program: &'a Program,
    words: Vec<Value>,
    raster: &'a RasterState,
}

impl<'a> Results<'a> {
    /// Of a program's output words.
    pub(super) fn new(b: Builder, program: &'a Program, words: Vec<Value>, raster: &'a RasterState) -> Self {
        Self { b, program, words, raster }
    }

    /// The program that ends with what writes the outputs and says how many there are; how its inputs differ from lane to lane.
    pub(super) fn program(
        mut self,
        variance: &[LaneVariance],
        name: &str,
        finish: impl FnOnce(&mut Self) -> usize,
    ) -> Program {
        let outputs = finish(&mut self);
        let mut function = self.b.finish();
        passes::optimize(&mut function, &mut |_, _| {});
        let mut program = Program::routine(function, variance, outputs);
        program.stage = self.program.stage;
        program.code.generate_chosen(program.stage, name);
        program
    }

    /// The kernel that ends with them; how its inputs differ from lane to lane, whether waves may run in any order, and whether it gives
    /// also what transform feedback writes.
    pub(super) fn kernel(
        self,
        pipeline: &PipelineState,
        variance: &[LaneVariance],
        (is_pure, captures): (bool, bool),
    ) -> VertexKernel {
        let (varyings, routes) = (pipeline.varyings().count(), self.program.routes());
        let mut captured = 0;
        let program = self.program(variance, "kernel", |results| results.finish_all(pipeline, captures, &mut captured));
        VertexKernel { program, varyings, routes, captured, is_pure }
    }

    /// Ends a kernel with what set-up needs and, where that is asked for, with words that transform feedback writes, which it counts. How many
    /// words all are.
    fn finish_all(&mut self, pipeline: &PipelineState, captures: bool, captured: &mut usize) -> usize {
        let end = self.finish(pipeline.varyings());
        *captured = if captures { self.capture(end) } else { 0 };
        end + *captured
    }

    fn word(&mut self, slot: Slot) -> Option<Value> {
        self.program.output(slot).map(|word| self.words[word])
    }

    fn float(&mut self, builtin: Builtin, component: u32, default: f32) -> Value {
        match self.word(Slot::Builtin(builtin, component)) {
            Some(value) => self.b.cast(value, Type::F32),
            None => self.b.float(default),
        }
    }

    /// Elements of an array of distances.
    fn count(&self, builtin: Builtin) -> usize {
        (0..MAX_DISTANCES).take_while(|&index| self.program.output_builtin(builtin, index).is_some()).count()
    }

    fn output(&mut self, slot: usize, value: Value) {
        self.b.push(Inst::Output { slot: slot as u32, value });
    }

    /// Writes all output words. Returns how many there are.
    fn finish(&mut self, varyings: impl Iterator<Item = Slot>) -> usize {
        let position = [0, 1, 2, 3].map(|component| self.float(Builtin::Position, component, 0.0));
        let window = self.window(position);
        // Clip and cull distances may also be read by the fragment program: they are outputs like any other.
        let mut rest = output::VARYINGS;
        for slot in varyings {
            let value = self.word(slot).unwrap_or_else(|| self.b.int(0));
            self.output(rest, value);
            rest += 1;
        }
        for (component, (position, window)) in position.into_iter().zip(window).enumerate() {
            self.output(output::WINDOW + component, window);
            self.output(rest + output::POSITION + component, position);
        }
        let outside = self.outside(position);
        self.output(rest + output::OUTSIDE, outside);
        let size = self.float(Builtin::PointSize, 0, 1.0);
        self.output(rest + output::POINT_SIZE, size);
        let distances = self.count(Builtin::ClipDistance);
        for index in 0..distances {
            let distance = self.float(Builtin::ClipDistance, index as u32, 0.0);
            self.output(rest + output::CLIP + index, distance);
        }
        let mut end = rest + output::CLIP + distances;
        if self.program.routes() {
            for builtin in [Builtin::ViewportIndex, Builtin::Layer] {
                let number = self.word(Slot::Builtin(builtin, 0)).unwrap_or_else(|| self.b.int(0));
                self.output(end, number);
                end += 1;
            }
        }
        end
    }

    /// Writes what transform feedback takes behind the other output words. Returns how many words these are.
    fn capture(&mut self, end: usize) -> usize {
        let outputs = self.program.outputs.iter().zip(self.words.clone());
        let words = outputs.filter(|(output, _)| output.feedback.is_some()).map(|(_, word)| word);
        words.enumerate().map(|(number, word)| self.output(end + number, word)).count()
    }

    /// Writes the output words of positions. Returns how many there are.
    fn finish_positions(&mut self) -> usize {
        let place = [0, 1, 2, 3].map(|component| self.float(Builtin::Position, component, 0.0));
        let [x, y, z, _] = self.window(place);
        for (component, value) in [x, y, z].into_iter().enumerate() {
            self.output(position::WINDOW + component, value);
        }
        let outside = self.outside(place);
        self.output(position::OUTSIDE, outside);
        position::COUNT
    }

    /// The place in the window, and 1/w. The viewport's numbers are parameters, as `vertex_parameters` has them.
    fn window(&mut self, [x, y, z, w]: [Value; 4]) -> [Value; 4] {
        let [left, top, width, height, near, far] =
            [0, 1, 2, 3, 4, 5].map(|word| self.b.parameter(word, None, Type::F32));
        let one = self.b.float(1.0);
        let inverse_w = self.b.binary(B::FDiv, one, w);
        let [x, y] = [(x, width, left), (y, height, top)].map(|(value, size, start)| {
            let (one, half) = (self.b.float(1.0), self.b.float(0.5));
            let projected = self.b.binary(B::FMul, value, inverse_w);
            let from_zero = self.b.binary(B::FAdd, projected, one);
            let share = self.b.binary(B::FMul, from_zero, half);
            let scaled = self.b.binary(B::FMul, share, size);
            self.b.binary(B::FAdd, scaled, start)
        });
        let (projected, range) = (self.b.binary(B::FMul, z, inverse_w), self.b.binary(B::FSub, far, near));
        let (scale, start) = match self.raster.negative_one_to_one {
            false => (range, near),
            true => {
                let (half, sum) = (self.b.float(0.5), self.b.binary(B::FAdd, far, near));
                (self.b.binary(B::FMul, range, half), self.b.binary(B::FMul, sum, half))
            }
        };
        let scaled = self.b.binary(B::FMul, projected, scale);
        [x, y, self.b.binary(B::FAdd, scaled, start), inverse_w]
    }

    /// The signed distances to the planes of the view volume, as `clip` has them.
    fn distances(&mut self, [x, y, z, w]: [Value; 4]) -> [Value; 7] {
        let (smallest, band) = (self.b.float(SMALLEST_W), self.b.parameter(6, None, Type::F32));
        let reach = self.b.binary(B::FMul, band, w);
        [
            self.b.binary(B::FSub, w, smallest),
            if self.raster.negative_one_to_one { self.b.binary(B::FAdd, w, z) } else { z },
            self.b.binary(B::FSub, w, z),
            self.b.binary(B::FSub, reach, x),
            self.b.binary(B::FAdd, reach, x),
            self.b.binary(B::FSub, reach, y),
            self.b.binary(B::FAdd, reach, y),
        ]
    }

    fn outside(&mut self, position: [Value; 4]) -> Value {
        let mut bits = self.b.int(0);
        for (plane, distance) in (0..).zip(self.distances(position)) {
            if self.raster.depth_clip || !matches!(plane, 1 | 2) {
                bits = self.outside_of(bits, distance, outside::PLANE + plane);
            }
        }
        let [x, y, _, w] = position;
        for (side, (op, axis)) in (0..).zip([(B::FSub, x), (B::FAdd, x), (B::FSub, y), (B::FAdd, y)]) {
            let distance = self.b.binary(op, w, axis);
            bits = self.outside_of(bits, distance, outside::SIDE + side);
        }
        for index in 0..self.count(Builtin::ClipDistance) as u32 {
            let distance = self.float(Builtin::ClipDistance, index, 0.0);
            bits = self.outside_of(bits, distance, outside::CLIP + index);
        }
        let zero = self.b.float(0.0);
        for index in 0..self.count(Builtin::CullDistance) as u32 {
            let distance = self.float(Builtin::CullDistance, index, 0.0);
            let is_negative = self.b.binary(B::FLt, distance, zero);
            bits = self.set_bit(bits, is_negative, outside::CULL + index);
        }
        for coordinate in position {
            let is_nan = self.b.unary(U::IsNan, coordinate);
            bits = self.set_bit(bits, is_nan, outside::NOWHERE);
        }
        bits
    }

    /// Sets a bit where a distance is negative, or no number.
    fn outside_of(&mut self, bits: Value, distance: Value, bit: u32) -> Value {
        let zero = self.b.float(0.0);
        let inside = self.b.binary(B::FLe, zero, distance);
        let is_outside = self.b.unary(U::LogicalNot, inside);
        self.set_bit(bits, is_outside, bit)
    }

    fn set_bit(&mut self, bits: Value, condition: Value, bit: u32) -> Value {
        let (set, clear) = (self.b.int(1 << bit), self.b.int(0));
        let new = self.b.select(condition, set, clear);
        self.b.binary(B::Or, bits, new)
    }
}

#[cfg(test)]
mod tests;
