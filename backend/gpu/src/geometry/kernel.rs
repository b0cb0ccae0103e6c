//! Vertex kernels: vertex programs linked with attribute fetch and the viewport transform.
//!
//! A kernel fetches attributes, runs the vertex program and transforms positions to window
//! coordinates. Its outputs are the window coordinates, the varyings and the planes outside of
//! which a vertex lies, in the layout that triangle setup reads.
//!
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

use super::clip::MIN_W;
use super::cull_heuristic::CullHeuristic;
use crate::state::{PipelineState, RasterState, VertexAttribute, VertexBinding};

/// Input slots of a vertex kernel.
pub(super) mod input {
    /// Vertex index.
    pub const VERTEX: u32 = 0;
    /// Instance index.
    pub const INSTANCE: u32 = 1;
    /// Offset that the draw added to the vertex index.
    pub const BASE_VERTEX: u32 = 2;
    /// Offset that the draw added to the instance index.
    pub const BASE_INSTANCE: u32 = 3;
    /// Draw index.
    pub const DRAW: u32 = 4;
    /// Number of input slots.
    pub const COUNT: usize = 5;
}

/// Output slots of a vertex kernel.
pub(super) mod output {
    /// First of four components: window coordinates x, y, z, and 1/w.
    pub const WINDOW: usize = 0;
    /// First varying. The varyings follow the window coordinates because rows store both.
    pub const VARYINGS: usize = 4;
    /// Bits of `outside`, relative to the end of the varyings.
    pub const OUTSIDE: usize = 0;
    /// First of four clip coordinates, relative to the end of the varyings.
    pub const POSITION: usize = 1;
    /// Point size, relative to the end of the varyings.
    pub const POINT_SIZE: usize = 5;
    /// First clip distance, relative to the end of the varyings. The viewport and layer indices
    /// follow the clip distances if the program writes either.
    pub const CLIP: usize = 6;
}

/// Output slots of a position kernel.
pub(super) mod position {
    /// First of three components: window coordinates x, y and z.
    pub const WINDOW: usize = 0;
    /// Bits of `outside`.
    pub const OUTSIDE: usize = 3;
    /// Number of output slots.
    pub const COUNT: usize = 4;
}

/// Bits that name the planes and distances outside of which a vertex lies.
pub(super) mod outside {
    /// First of the seven planes of the view volume.
    pub const PLANE: u32 = 0;
    /// First of the clip distances.
    pub const CLIP: u32 = 7;
    /// First of the cull distances.
    pub const CULL: u32 = 15;
    /// Set if a coordinate of the position is NaN.
    pub const NAN: u32 = 23;
    /// First of the four sides of the view volume itself. They lie within the sides of the guard
    /// band, which are planes.
    pub const SIDE: u32 = 24;
    /// All planes and clip distances.
    pub const CLIPPED: u32 = (1 << CULL) - 1;
    /// All cull distances.
    const CULLED: u32 = 0xff << CULL;
    /// All four sides.
    pub const SIDES_OF_VIEW: u32 = 0xf << SIDE;
    /// Bits that reject a primitive if all of its vertices have one of them in common.
    pub const REJECTED: u32 = CLIPPED | CULLED | SIDES_OF_VIEW;
}

/// Maximum number of clip distances and of cull distances.
const MAX_DISTANCES: u32 = 8;

/// First parameter after the viewport's. With `robustBufferAccess2`, the parameters from here on
/// are the sizes of the bindings' buffers, bytes.
const LIMITS: u32 = 7;

/// Byte offset that lies outside of every buffer.
const OUTSIDE_BUFFERS: u32 = 0xffff_ff00;

/// Byte offset beyond the end of every buffer, used for elements whose offset does not fit in 32
/// bits.
const FAR: u32 = 0x8000_0000;

/// A pipeline's vertex program, linked.
#[derive(Debug)]
pub struct VertexKernel {
    pub(super) program: Program,
    /// Number of components that are passed on to fragments.
    pub(super) varyings: usize,
    /// True if the program writes viewport or layer indices.
    pub(super) routes: bool,
    /// Number of trailing output components that transform feedback writes.
    pub(super) captured: usize,
    is_pure: bool,
}

/// The position part of a vertex program, linked, with the heuristic that says if running it first
/// pays.
#[derive(Debug)]
pub struct PositionKernel {
    pub(super) program: Program,
    /// Per-vertex bindings of which every cache line is needed: range number and stride in bytes.
    pub(super) streams: SmallVec<[(u32, u32); 2]>,
    /// Costs and past benefit of the cull pipe with this kernel.
    pub heuristic: CullHeuristic,
}

/// The vertex kernels of a pipeline, each linked and compiled on first use.
#[derive(Debug, Default)]
pub struct LazyVertexKernel {
    full: OnceLock<VertexKernel>,
    captured: OnceLock<VertexKernel>,
    positions: OnceLock<PositionKernel>,
}

impl LazyVertexKernel {
    /// Returns the kernel that writes all outputs but those of transform feedback.
    pub fn get(&self, pipeline: &PipelineState) -> &VertexKernel {
        self.full.get_or_init(|| VertexKernel::new(pipeline, false))
    }

    /// Returns the kernel that also writes the outputs of transform feedback, in the order of a
    /// [`super::CapturePlan`].
    pub fn captured(&self, pipeline: &PipelineState) -> &VertexKernel {
        self.captured.get_or_init(|| VertexKernel::new(pipeline, true))
    }

    /// Returns the kernel that writes positions only, if it was used before.
    pub fn known_positions(&self) -> Option<&PositionKernel> {
        self.positions.get()
    }

    /// Returns the kernel that writes positions only.
    pub fn positions(&self, pipeline: &PipelineState) -> &PositionKernel {
        self.positions.get_or_init(|| {
            let program = linked(pipeline, "position kernel", |results| results.finish_positions());
            let heuristic = CullHeuristic::new(program.code.function(), self.get(pipeline).program.code.function());
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
            PositionKernel { streams: streams.collect(), program, heuristic }
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

    /// Builds a kernel whose inputs are the output components of a program that has already run.
    /// The kernel runs no program and fetches no attributes: it only converts the components to
    /// the layout of triangle setup.
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

    /// Returns true if waves may run in any order.
    pub fn is_pure(&self) -> bool {
        self.is_pure
    }
}

/// Returns how each input of a vertex kernel varies from lane to lane.
pub(super) fn fetch_variance() -> [LaneVariance; input::COUNT] {
    let mut variance = [LaneVariance::Uniform; input::COUNT];
    variance[input::VERTEX as usize] = LaneVariance::Divergent;
    variance
}

/// Links a pipeline's vertex program with the fetch of its attributes. `finish` writes the outputs
/// and returns their number.
fn linked(pipeline: &PipelineState, name: &str, finish: impl FnOnce(&mut Results<'_>) -> usize) -> Program {
    let program = &*pipeline.vertex;
    let mut linker = VertexLinker::of(Builder::new(), pipeline, None);
    let words = link::append(&mut linker, program);
    let results = Results::new(linker.b, program, words, &pipeline.raster);
    let mut linked = results.program(&fetch_variance(), name, finish);
    linked.resources.clone_from(&program.resources);
    linked
}

/// Linker that appends a vertex program and the fetch of its attributes.
pub(super) struct VertexLinker<'a> {
    b: Builder,
    pipeline: &'a PipelineState,
    /// Vertex index, or `None` if it is an input.
    vertex: Option<Value>,
}

impl<'a> VertexLinker<'a> {
    /// Creates a linker that appends to `b`. With `vertex` being `None`, the vertex index is an
    /// input.
    pub(super) fn of(b: Builder, pipeline: &'a PipelineState, vertex: Option<Value>) -> Self {
        Self { b, pipeline, vertex }
    }

    /// Returns the builder with everything appended so far.
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

    /// Returns a component of the attribute at a location, or 0 if the pipeline has no such
    /// attribute.
    fn attribute(&mut self, location: u32, component: usize) -> Value {
        let attributes = &self.pipeline.attributes;
        let found = attributes.iter().find_map(|attribute| {
            let info = format::info(attribute.format)?;
            // An attribute larger than 16 bytes continues in the next location.
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

    /// Returns the byte offset of an attribute. With `robustBufferAccess2`, an attribute that is
    /// not wholly inside its buffer gets an offset outside of every buffer.
    fn address(&mut self, attribute: &VertexAttribute, range: u32, binding: &VertexBinding) -> Value {
        let start = self.element(binding);
        let offset = self.b.int(attribute.offset);
        let at = self.b.binary(B::IAdd, start, offset);
        if !self.pipeline.exact_vertices {
            return at;
        }
        let bytes = self.b.int(format::info(attribute.format).map_or(0, |info| info.bytes));
        let (end, limit) = (self.b.binary(B::IAdd, at, bytes), self.b.parameter(LIMITS + range, None, Type::I32));
        let (outside, nowhere) = (self.b.binary(B::ULt, limit, end), self.b.int(OUTSIDE_BUFFERS));
        self.b.select(outside, nowhere, at)
    }

    /// Loads the dwords of a part of an attribute, `behind` bytes after the attribute's start.
    /// Bytes outside of the buffer read as 0.
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

    /// Returns the byte offset of an element of a binding, clamped to `FAR`.
    fn element(&mut self, binding: &VertexBinding) -> Value {
        let number = match binding.rate {
            vk::VertexInputRate::INSTANCE => self.instance(binding.divisor),
            _ => self.vertex(),
        };
        // Clamping the index to the first element at or beyond `FAR` keeps the product within 32
        // bits.
        let first_far = self.b.int(FAR.div_ceil(binding.stride.max(1)));
        let (stride, far) = (self.b.int(binding.stride), self.b.int(FAR));
        let number = self.b.binary(B::UMin, number, first_far);
        let start = self.b.binary(B::IMul, number, stride);
        self.b.binary(B::UMin, start, far)
    }
}

impl VertexLinker<'_> {
    /// Returns the index of an instance's element, for a binding that advances once every
    /// `divisor` instances.
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

/// Builder of the code between the last program and triangle setup.
pub(super) struct Results<'a> {
    b: Builder,
    program: &'a Program,
    words: Vec<Value>,
    raster: &'a RasterState,
}

impl<'a> Results<'a> {
    /// Starts from the values of a program's output components.
    pub(super) fn new(b: Builder, program: &'a Program, words: Vec<Value>, raster: &'a RasterState) -> Self {
        Self { b, program, words, raster }
    }

    /// Returns the program that ends with the code `finish` appends; `finish` returns the number
    /// of outputs. `variance` says how each input varies from lane to lane.
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

    /// Returns the kernel that ends with all outputs. `variance` says how each input varies from
    /// lane to lane. Waves may run in any order if `is_pure`. The kernel writes the outputs of
    /// transform feedback too if `captures`.
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

    /// Writes the outputs that setup reads and, if `captures`, those of transform feedback. Stores
    /// the number of the latter in `captured`. Returns the number of all outputs.
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

    /// Returns the number of elements of an array of clip or cull distances.
    fn count(&self, builtin: Builtin) -> usize {
        (0..MAX_DISTANCES).take_while(|&index| self.program.output_builtin(builtin, index).is_some()).count()
    }

    fn output(&mut self, slot: usize, value: Value) {
        self.b.push(Inst::Output { slot: slot as u32, value });
    }

    /// Writes the outputs that setup reads. Returns their number.
    fn finish(&mut self, varyings: impl Iterator<Item = Slot>) -> usize {
        let position = [0, 1, 2, 3].map(|component| self.float(Builtin::Position, component, 0.0));
        let window = self.window(position);
        // The fragment program may read clip and cull distances too. They are then varyings like
        // any other.
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

    /// Writes the outputs of transform feedback after the other outputs. Returns their number.
    fn capture(&mut self, end: usize) -> usize {
        let outputs = self.program.outputs.iter().zip(self.words.clone());
        let words = outputs.filter(|(output, _)| output.feedback.is_some()).map(|(_, word)| word);
        words.enumerate().map(|(number, word)| self.output(end + number, word)).count()
    }

    /// Writes the outputs of a position kernel. Returns their number.
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

    /// Returns the window coordinates and 1/w. The viewport's values are parameters, in the order
    /// of `vertex_parameters`.
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

    /// Returns the signed distances to the planes of the view volume, in the order of `clip`.
    fn distances(&mut self, [x, y, z, w]: [Value; 4]) -> [Value; 7] {
        let (smallest, band) = (self.b.float(MIN_W), self.b.parameter(6, None, Type::F32));
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
            bits = self.set_bit(bits, is_nan, outside::NAN);
        }
        bits
    }

    /// Sets a bit if a distance is negative or NaN.
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
