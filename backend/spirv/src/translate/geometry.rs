//! Geometry programs: inputs of several vertices, and emitted vertices.
//!
//! Both are in local memory ([`Space::Shared`]), with the layout of [`GeometryFacts`]. Inputs are
//! loaded from the address of their vertex. Outputs are locals until a vertex is emitted, which
//! stores them. Source: SPIR-V specification, `OpEmitVertex`, `OpEndPrimitive`; Vulkan
//! specification, "Geometry Shading".

use ash::vk;
use spirv::{BuiltIn, Decoration, ExecutionMode, ExecutionModel, Op};
use vitric_ir::interface::{Builtin, GeometryFacts, Interpolation, LOCAL_WORD, Place, STREAMS, Slot};
use vitric_ir::{BinaryOp as B, Inst, Local, Space, Type, Value};

use super::Translator;
use super::memory::{Base, Pointer};
use crate::interface::{self, Word};
use crate::module::{EntryPoint, Module, Ty};
use crate::number::Number;
use crate::parse::Instruction;
use crate::{Error, Result};

/// Outputs behind those that a geometry program declares.
const IMPLICIT_OUTPUTS: [Builtin; 2] = [Builtin::StripStart, Builtin::EmitCount];

/// Additional state of a geometry program.
#[derive(Debug)]
pub(super) struct Geometry {
    facts: GeometryFacts,
    /// Local with the vertices' addresses, for dynamic indices, and the input slot of the first
    /// address.
    addresses: (Local, u32),
    /// Input slots of [`Builtin::EmitBase`], [`Builtin::EmitMask`], [`Builtin::EmitFirst`] and
    /// [`Builtin::EmitSpan`].
    emit: [u32; 4],
    /// Number of vertices emitted so far.
    emitted: Local,
    /// For each stream, 1 if its current strip has a vertex.
    continues: Local,
}

/// Returns the facts of a geometry program's entry point, except for its inputs.
fn facts(module: &Module, point: &EntryPoint) -> Result<GeometryFacts> {
    use ExecutionMode as M;
    let has = |mode| module.mode(point.function, mode).is_some();
    let inputs = [
        (M::InputPoints, 1),
        (M::InputLines, 2),
        (M::Triangles, 3),
        (M::InputLinesAdjacency, 4),
        (M::InputTrianglesAdjacency, 6),
    ];
    let outputs = [
        (M::OutputPoints, vk::PrimitiveTopology::POINT_LIST),
        (M::OutputLineStrip, vk::PrimitiveTopology::LINE_STRIP),
        (M::OutputTriangleStrip, vk::PrimitiveTopology::TRIANGLE_STRIP),
    ];
    let input = inputs.into_iter().find(|&(mode, _)| has(mode));
    let output = outputs.into_iter().find(|&(mode, _)| has(mode));
    let (Some((_, vertices)), Some((_, output))) = (input, output) else {
        return Err(Error::Malformed("a geometry program without kinds of primitives"));
    };
    let number = |mode| module.mode(point.function, mode).and_then(|words| words.first().copied());
    let max_vertices =
        number(M::OutputVertices).ok_or(Error::Malformed("a geometry program without a number of vertices"))?;
    let invocations = number(M::Invocations).unwrap_or(1).max(1);
    Ok(GeometryFacts { vertices, output, max_vertices, invocations, inputs: Vec::new() })
}

impl Translator<'_> {
    /// Declares the implicit inputs of a geometry program.
    pub(super) fn begin_geometry(&mut self, point: &EntryPoint) -> Result<()> {
        if self.model != ExecutionModel::Geometry {
            return Ok(());
        }
        let facts = facts(self.module, point)?;
        let first = self.inputs.len() as u32;
        let addresses = (0..facts.vertices).map(|vertex| (Builtin::VertexAddress, vertex));
        let emit =
            [Builtin::EmitBase, Builtin::EmitMask, Builtin::EmitFirst, Builtin::EmitSpan].map(|builtin| (builtin, 0));
        self.inputs.extend(addresses.chain(emit).map(|(builtin, word)| undeclared_word(builtin, word)));
        let local = self.new_local(facts.vertices)?;
        for vertex in 0..facts.vertices {
            let address = self.builder.input(first + vertex, Type::I32);
            self.builder.local_store(local, vertex, None, address);
        }
        let (emitted, continues) = (self.new_local(1)?, self.new_local(STREAMS)?);
        let emit = [0, 1, 2, 3].map(|word| first + facts.vertices + word);
        self.geometry = Some(Geometry { facts, addresses: (local, first), emit, emitted, continues });
        Ok(())
    }

    /// Returns true if an input has an element per vertex.
    pub(super) fn is_per_vertex(&self, id: u32) -> bool {
        let builtin = self.module.decoration_word((id, None), Decoration::BuiltIn).and_then(BuiltIn::from_u32);
        let is_given = self.geometry.is_some() || self.model == ExecutionModel::TessellationControl;
        is_given && builtin.is_none_or(is_of_vertices)
    }

    /// Declares an input with an element per vertex.
    pub(super) fn declare_vertices(&mut self, id: u32, ty: u32) -> Result<Base> {
        let Ty::Array(element, _) = *self.module.ty(ty)? else {
            return Err(Error::Malformed("an input of vertices that is no array"));
        };
        let words = interface::words(self.module, &self.constants, self.model, id, element)?;
        let used = self.used_words(id, element, words.len(), true)?;
        let is_wide = words.iter().any(|word| word.ty.is_wide());
        let first = self.vertex_inputs.len() as u32;
        for (word, used) in words.iter().zip(used) {
            self.vertex_inputs.push(used.then_some(word.slot));
            if is_wide {
                let high = word.ty.is_wide().then(|| interface::high_word(word).slot);
                self.vertex_inputs.push(high.filter(|_| used));
            }
        }
        super::is_interface(self.vertex_inputs.len())?;
        Ok(Base::Vertices { first, unit: if is_wide { 2 } else { 1 } })
    }

    /// Returns the address of a vertex.
    fn vertex_address(&mut self, element: Option<Value>) -> Result<Value> {
        let Some(element) = element else { return Err(Error::Malformed("an input of no vertex")) };
        let Some(geometry) = &self.geometry else { return self.tabled_vertex(element) };
        let ((local, first), count) = (geometry.addresses, geometry.facts.vertices);
        match self.builder.as_constant(element) {
            // An index beyond the last vertex is undefined, so the last one is used.
            Some(vertex) => Ok(self.builder.input(first + vertex.min(count - 1), Type::I32)),
            None => Ok(self.builder.local_load(local, 0, Some(element), Type::I32)),
        }
    }

    /// Loads the pointee of a pointer into vertices, for one vertex or for all. `first` is the
    /// first dword of the variable.
    pub(super) fn load_vertices(&mut self, first: u32, pointer: &Pointer) -> Result<Vec<Value>> {
        if pointer.element.is_some() {
            return self.load_vertex(first, pointer);
        }
        let Ty::Array(element, length) = *self.module.ty(pointer.ty)? else {
            return Err(Error::Malformed("an input of vertices that is no array"));
        };
        let mut words = Vec::new();
        for vertex in 0..self.constants.length(length)? {
            let mut of_vertex = pointer.clone();
            (of_vertex.ty, of_vertex.element) = (element, Some(self.builder.int(vertex)));
            words.extend(self.load_vertex(first, &of_vertex)?);
        }
        Ok(words)
    }

    fn load_vertex(&mut self, first: u32, pointer: &Pointer) -> Result<Vec<Value>> {
        let mut address = self.vertex_address(pointer.element)?;
        if let Some(dynamic) = pointer.dynamic {
            let word = self.builder.int(LOCAL_WORD);
            let bytes = self.builder.binary(B::IMul, dynamic, word);
            address = self.builder.binary(B::IAdd, address, bytes);
        }
        let mut places = Vec::new();
        self.places(pointer, &mut places)?;
        self.charge_work(places.len())?;
        let load = |(place, number): (u32, Number)| self.vertex_word(address, first.wrapping_add(place), number.ir());
        places.into_iter().map(load).collect()
    }

    /// Loads a scalar of the vertex at an address.
    fn vertex_word(&mut self, address: Value, slot: u32, ty: Type) -> Result<Value> {
        if slot as usize >= self.vertex_inputs.len() {
            return Ok(self.zero(ty));
        }
        let mut word = |slot: u32, ty| {
            let offset = self.builder.int(slot * LOCAL_WORD);
            let at = self.builder.binary(B::IAdd, address, offset);
            self.builder.load(Space::Shared, at, ty)
        };
        if !ty.is_wide() {
            return Ok(word(slot, ty));
        }
        let (low, high) = (word(slot, Type::I32), word(slot.wrapping_add(1), Type::I32));
        Ok(self.builder.join(low, high, ty))
    }

    /// Translates `OpEmitVertex`, `OpEndPrimitive` and their variants with a stream operand.
    pub(super) fn emit_vertex(&mut self, inst: &Instruction) -> Result<()> {
        let stream = match inst.op {
            Op::EmitStreamVertex | Op::EndStreamPrimitive => self.constants.scalar(inst.word(0)?),
            _ => Some(0),
        };
        let stream = stream.filter(|&stream| stream < STREAMS).ok_or(Error::Malformed("no such stream"))?;
        let Some(&Geometry { emitted, continues, emit, .. }) = self.geometry.as_ref() else {
            return Err(Error::Malformed("a vertex is emitted by another stage"));
        };
        if matches!(inst.op, Op::EndPrimitive | Op::EndStreamPrimitive) {
            let zero = self.builder.int(0);
            self.builder.local_store(continues, stream, None, zero);
            return Ok(());
        }
        self.charge_work(self.outputs.len())?;
        let number = self.builder.local_load(emitted, 0, None, Type::I32);
        let [_, _, first, span] = emit.map(|slot| self.builder.input(slot, Type::I32));
        let b = &mut self.builder;
        let after = b.binary(B::ISub, number, first);
        let condition = b.binary(B::ULt, after, span);
        b.push(Inst::If { condition });
        self.store_record(number, (stream, continues))?;
        let b = &mut self.builder;
        b.push(Inst::EndIf);
        let one = b.int(1);
        b.local_store(continues, stream, None, one);
        let number = b.binary(B::IAdd, number, one);
        b.local_store(emitted, 0, None, number);
        self.leave_after(number);
        Ok(())
    }

    /// Ends the invocation in lanes that store one vertex, after they have emitted `number`
    /// vertices with their own.
    fn leave_after(&mut self, number: Value) {
        let Some(&Geometry { emit: [_, mask, first, _], .. }) = self.geometry.as_ref() else { return };
        let slot = self.outputs.len() as u32 + IMPLICIT_OUTPUTS.len() as u32 - 1;
        let b = &mut self.builder;
        let [mask, first] = [mask, first].map(|slot| b.input(slot, Type::I32));
        let zero = b.int(0);
        let stores_one = b.binary(B::IEq, mask, zero);
        b.push(Inst::If { condition: stores_one });
        let is_done = b.binary(B::ULt, first, number);
        b.push(Inst::If { condition: is_done });
        b.push(Inst::Output { slot, value: number });
        b.push(Inst::Kill);
        b.push(Inst::EndIf);
        b.push(Inst::EndIf);
    }

    /// Stores the outputs as vertex `number`.
    fn store_record(&mut self, number: Value, (stream, continues): (u32, Local)) -> Result<()> {
        let Some(&Geometry { emit: [base, mask, ..], .. }) = self.geometry.as_ref() else { return Ok(()) };
        let values = self.output_values();
        let b = &mut self.builder;
        let flags = b.local_load(continues, stream, None, Type::I32);
        let one = b.int(1);
        let begins = b.binary(B::Xor, flags, one);
        let of_stream = b.int(stream << 1);
        let flags = b.binary(B::Or, begins, of_stream);
        let [base, mask] = [base, mask].map(|slot| b.input(slot, Type::I32));
        let record = b.binary(B::And, number, mask);
        let bytes = b.int((values.len() as u32 + 1) * LOCAL_WORD);
        let start = b.binary(B::IMul, record, bytes);
        let (lane, two) = (b.lane(), b.int(2));
        let lane = b.binary(B::Shl, lane, two);
        let start = b.binary(B::IAdd, start, base);
        let start = b.binary(B::IAdd, start, lane);
        for (word, value) in values.into_iter().chain([flags]).enumerate() {
            let offset = b.int(word as u32 * LOCAL_WORD);
            let offset = b.binary(B::IAdd, start, offset);
            b.push(Inst::Store { space: Space::Shared, offset, value });
        }
        Ok(())
    }

    /// Ends a geometry program. Declares the implicit components of its records and of its actual
    /// output, and writes the number of vertices.
    pub(super) fn end_geometry(&mut self) -> Result<()> {
        let Some(geometry) = &self.geometry else { return Ok(()) };
        let (emitted, most) = (geometry.emitted, geometry.facts.max_vertices);
        self.outputs.extend(IMPLICIT_OUTPUTS.map(|builtin| undeclared_word(builtin, 0)));
        if !geometry.facts.is_possible(self.outputs.len()) {
            return Err(Error::Unsupported("this many vertices of a geometry program".into()));
        }
        let b = &mut self.builder;
        let (count, most) = (b.local_load(emitted, 0, None, Type::I32), b.int(most));
        let value = b.binary(B::UMin, count, most);
        b.push(Inst::Output { slot: self.outputs.len() as u32 - 1, value });
        Ok(())
    }
}

impl Geometry {
    /// Returns the facts of the program.
    pub(super) fn into_facts(self, inputs: Vec<Option<Slot>>) -> GeometryFacts {
        GeometryFacts { inputs, ..self.facts }
    }
}

/// Returns an interface component that no variable of the program declares.
pub(super) fn undeclared_word(builtin: Builtin, word: u32) -> Word {
    let slot = Slot::Builtin(builtin, word);
    let (interpolation, place) = (Interpolation::Flat, Place::Center);
    Word { slot, ty: Type::I32, interpolation, place, feedback: None, narrow_signed: None }
}

/// Returns true if a built-in input has an element per vertex.
pub(super) fn is_of_vertices(builtin: BuiltIn) -> bool {
    use BuiltIn as B;
    matches!(builtin, B::Position | B::PointSize | B::ClipDistance | B::CullDistance | B::Layer | B::ViewportIndex)
}
