//! Pointers, which are symbolic until they are loaded or stored.
//!
//! Locals and inputs are tightly packed scalars. Shared memory is packed in 32-bit units, or in
//! 64-bit units for variables with 64-bit scalars. Buffers, push constants, addressed memory and
//! shared blocks have the layout of the module's `Offset`, `ArrayStride` and `MatrixStride`. An
//! offset is a constant part plus an optional dynamic part. Its unit is scalars for locals and
//! inputs, and bytes for all other memory.
//!
//! Offsets into storage buffers and addressed memory have 64 bits where a program asks for it
//! ([`super::far`]). Pointers become values where a program stores or selects them
//! ([`super::chosen`]).

use std::rc::Rc;

use spirv::{Decoration, StorageClass};
use vitric_base::simd::WAVE;
use vitric_ir::interface::{Builtin, PUSH_CONSTANT_BYTES, Slot};
use vitric_ir::{BinaryOp, Inst, Local, Space, Table, Type, Value};

use super::{Operand, Translator};
use crate::module::Ty;
use crate::number::{self, Number};
use crate::parse::Instruction;
use crate::{Error, Result};

/// Memory that a pointer points into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    Local(Local),
    /// A local that never changes: tables of the low dwords, and of the high dwords if there are
    /// 64-bit scalars. Locals may share a table.
    Table(Table, Option<Table>),
    /// An input variable, by its first input slot.
    Input(u32),
    /// Input vertices: the index of their first dword, and the number of dwords per scalar.
    Vertices {
        first: u32,
        unit: u32,
    },
    /// A variable of a patch or of its vertices: the first input slot of its offsets, and the
    /// number of dwords per scalar.
    Patch {
        first: u32,
        unit: u32,
        of_vertices: bool,
    },
    /// Shared memory, by the offset of the first byte.
    Shared(u32),
    Push,
    /// A resource, by its index in the program's resources.
    Resource(u32),
    /// Device memory, by address.
    Address(Value),
    /// A pointer selected at run time: a value in the form of `Translator::pointer_value`.
    Chosen(Value, StorageClass),
}

/// Layout of a matrix in memory with explicit layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MatrixLayout {
    stride: u32,
    row_major: bool,
}

/// Value of [`Pointer::unit`] for memory whose layout the module declares.
pub(super) const EXPLICIT: u32 = 0;

/// Pointer.
#[derive(Debug, Clone)]
pub(super) struct Pointer {
    pub(super) base: Base,
    /// Type of the pointee.
    pub(super) ty: u32,
    pub(super) constant: u32,
    pub(super) dynamic: Option<Value>,
    /// Element of an array of resources, or number of a vertex.
    pub(super) element: Option<Value>,
    matrix: Option<MatrixLayout>,
    /// Distance between the components of a vector in memory with explicit layout, in bytes.
    component_stride: u32,
    /// Distance between elements of the array that it points into, in units of offsets; 0 if
    /// unknown.
    pub(super) step: u32,
    /// Coordinates and sample of an `OpImageTexelPointer`.
    pub(super) texel: Option<(Vec<Value>, Value)>,
    /// Number of offset units per scalar in a packed layout.
    pub(super) unit: u32,
}

/// Element of an array: `first + round * step`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element {
    pub(super) first: u32,
    pub(super) round: Option<Value>,
    pub(super) step: u32,
}

impl Pointer {
    /// Returns a pointer to a whole variable of type `ty`.
    pub(super) fn new(base: Base, ty: u32) -> Self {
        let constant = if let Base::Shared(offset) = base { offset } else { 0 };
        let unit = match base {
            Base::Local(_) | Base::Table(..) | Base::Input(_) => 1,
            Base::Vertices { unit, .. } | Base::Patch { unit, .. } => unit,
            Base::Shared(_) => 4,
            _ => EXPLICIT,
        };
        let (component_stride, step) = (0, 0);
        Self {
            base,
            ty,
            constant,
            dynamic: None,
            element: None,
            matrix: None,
            component_stride,
            step,
            texel: None,
            unit,
        }
    }

    /// Returns a pointer into shared memory with `unit` bytes per scalar, or [`EXPLICIT`].
    pub(super) fn shared(offset: u32, ty: u32, unit: u32) -> Self {
        Self { unit, ..Self::new(Base::Shared(offset), ty) }
    }

    /// Returns true if it points to all vertices of a patch.
    fn is_of_all_vertices(&self) -> bool {
        matches!(self.base, Base::Patch { of_vertices: true, .. }) && self.element.is_none()
    }

    /// Returns true if it points to memory instead of components of inputs or patches.
    pub(super) fn is_plain(&self) -> bool {
        !matches!(self.base, Base::Input(_) | Base::Vertices { .. } | Base::Patch { .. })
    }

    pub(super) fn is_explicit(&self) -> bool {
        self.unit == EXPLICIT
    }

    /// Returns a pointer to the same memory with a pointee of another type. Only memory with
    /// explicit layout has values of several types.
    ///
    /// # Errors
    /// The memory is packed, and its type differs.
    pub(super) fn of_type(&self, ty: u32) -> Result<Self> {
        match self.is_explicit() {
            _ if self.ty == ty => Ok(self.clone()),
            true => Ok(Self { ty, matrix: None, component_stride: 0, ..self.clone() }),
            false => Err(Error::Malformed("memory without a layout has another type")),
        }
    }
}

impl Translator<'_> {
    pub(super) fn access_chain(&mut self, inst: &Instruction) -> Result<()> {
        let (result, id) = (inst.word(0)?, inst.word(1)?);
        let mut pointer = (*self.pointer(inst.word(2)?)?).clone();
        self.follow(&mut pointer, inst.rest(3))?;
        self.define(id, result, Operand::Pointer(Rc::new(pointer)))
    }

    /// Moves a pointer along the members that indices (ids) name.
    pub(super) fn follow(&mut self, pointer: &mut Pointer, indices: &[u32]) -> Result<()> {
        indices.iter().try_for_each(|&index| self.step(pointer, index))
    }

    /// Moves a pointer to member `index` (an id) of its pointee.
    fn step(&mut self, pointer: &mut Pointer, index: u32) -> Result<()> {
        let constant = self.constants.scalar(index);
        let ty = pointer.ty;
        match self.module.ty(ty)?.clone() {
            Ty::Struct(members) => {
                let index = constant.ok_or(Error::Malformed("a structure is indexed by a variable"))?;
                let member = *members.get(index as usize).ok_or(Error::Malformed("an index is out of range"))?;
                self.step_member(pointer, ty, index)?;
                pointer.ty = member;
                Ok(())
            }
            Ty::Array(element, _) | Ty::RuntimeArray(element) => {
                pointer.ty = element;
                let has_vertices =
                    matches!(pointer.base, Base::Vertices { .. } | Base::Patch { of_vertices: true, .. });
                if has_vertices && pointer.element.is_none() {
                    pointer.element = Some(self.index(index)?);
                    return Ok(());
                }
                if matches!(pointer.base, Base::Resource(_)) && self.is_descriptor_array(ty, element)? {
                    let index = self.index(index)?;
                    return self.step_descriptor(pointer, ty, index);
                }
                let stride = self.array_stride(pointer, ty, element)?;
                self.advance(pointer, index, constant, stride)
            }
            Ty::Matrix(column, _) => {
                let stride = self.column_stride(pointer, column)?;
                pointer.ty = column;
                self.advance(pointer, index, constant, stride)
            }
            Ty::Cooperative(matrix) if !pointer.is_explicit() => {
                pointer.ty = matrix.component;
                self.advance(pointer, index, constant, pointer.unit)
            }
            Ty::Vector(part, _) => {
                pointer.ty = part;
                let stride = if pointer.is_explicit() { self.component_stride(pointer, part)? } else { pointer.unit };
                self.advance(pointer, index, constant, stride)
            }
            _ => Err(Error::Malformed("an access chain into a scalar")),
        }
    }

    /// Moves a pointer into an array of resources. Arrays of arrays are numbered in row-major
    /// order.
    fn step_descriptor(&mut self, pointer: &mut Pointer, array: u32, index: Value) -> Result<()> {
        let length = match self.module.ty(array)? {
            Ty::Array(_, length) => self.constants.length(*length)?,
            _ => 1,
        };
        pointer.element = Some(match pointer.element {
            None => index,
            Some(outer) => {
                let length = self.builder.int(length);
                let row = self.builder.binary(BinaryOp::IMul, outer, length);
                self.builder.binary(BinaryOp::IAdd, row, index)
            }
        });
        Ok(())
    }

    /// Returns true for arrays of resources. They have no stride, because their elements are
    /// descriptors.
    fn is_descriptor_array(&self, array: u32, element: u32) -> Result<bool> {
        let opaque = matches!(self.module.ty(element)?, Ty::Image(_) | Ty::Sampler | Ty::SampledImage(_));
        Ok(opaque || !self.module.has((array, None), Decoration::ArrayStride))
    }

    fn step_member(&mut self, pointer: &mut Pointer, ty: u32, index: u32) -> Result<()> {
        let target = (ty, Some(index));
        pointer.step = 0;
        if !pointer.is_explicit() {
            let offset = self.constants.member(self.module, ty, index)?.0 * pointer.unit;
            pointer.constant = pointer.constant.wrapping_add(offset);
            return Ok(());
        }
        let offset = self.module.decoration_word(target, Decoration::Offset).unwrap_or(0);
        pointer.constant = pointer.constant.wrapping_add(offset);
        if let Some(stride) = self.module.decoration_word(target, Decoration::MatrixStride) {
            let row_major = self.module.has(target, Decoration::RowMajor);
            pointer.matrix = Some(MatrixLayout { stride, row_major });
        }
        Ok(())
    }

    fn array_stride(&self, pointer: &Pointer, array: u32, element: u32) -> Result<u32> {
        match pointer.is_explicit() {
            true => Ok(self.module.decoration_word((array, None), Decoration::ArrayStride).unwrap_or(4)),
            false => Ok(self.words_of(element)? * pointer.unit),
        }
    }

    /// Returns the distance between columns, in units of offsets, and sets the component stride.
    fn column_stride(&self, pointer: &mut Pointer, column: u32) -> Result<u32> {
        if !pointer.is_explicit() {
            return Ok(self.words_of(column)? * pointer.unit);
        }
        let layout = pointer.matrix.unwrap_or(MatrixLayout { stride: 16, row_major: false });
        if layout.row_major {
            pointer.component_stride = layout.stride;
            return self.component_bytes(column);
        }
        pointer.component_stride = 0;
        Ok(layout.stride)
    }

    /// Returns the distance between components of a vector in bytes.
    fn component_stride(&self, pointer: &Pointer, part: u32) -> Result<u32> {
        match pointer.component_stride {
            0 => self.component_bytes(part),
            stride => Ok(stride),
        }
    }

    fn component_bytes(&self, ty: u32) -> Result<u32> {
        Ok(Number::of(self.module, ty)?.bytes())
    }

    pub(super) fn advance(
        &mut self,
        pointer: &mut Pointer,
        index: u32,
        constant: Option<u32>,
        stride: u32,
    ) -> Result<()> {
        pointer.step = stride;
        if self.is_far(pointer) {
            return self.advance_far(pointer, index, stride);
        }
        if let Some(constant) = constant {
            pointer.constant = pointer.constant.wrapping_add(constant.wrapping_mul(stride));
            return Ok(());
        }
        let index = self.index(index)?;
        self.advance_by(pointer, index, stride);
        Ok(())
    }

    /// Moves a pointer by `index` times `stride`.
    pub(super) fn advance_by(&mut self, pointer: &mut Pointer, index: Value, stride: u32) {
        let index = if self.is_far(pointer) { self.sign_extended(index) } else { index };
        let stride = self.builder.int_like(index, stride.into());
        let scaled = self.builder.binary(BinaryOp::IMul, index, stride);
        pointer.dynamic = Some(match pointer.dynamic {
            Some(dynamic) => self.builder.binary(BinaryOp::IAdd, dynamic, scaled),
            None => scaled,
        });
    }

    /// Moves a pointer to the part of a composite that a literal index names.
    pub(super) fn step_literal(&mut self, pointer: &mut Pointer, index: u32) -> Result<()> {
        let ty = pointer.ty;
        // Checks that the index is in bounds.
        let is_runtime = matches!(self.module.ty(ty)?, Ty::RuntimeArray(_));
        let part = if is_runtime { None } else { Some(self.constants.member(self.module, ty, index)?.1) };
        match *self.module.ty(ty)? {
            Ty::Struct(_) => self.step_member(pointer, ty, index)?,
            Ty::Array(element, _) | Ty::RuntimeArray(element)
                if matches!(pointer.base, Base::Resource(_)) && self.is_descriptor_array(ty, element)? =>
            {
                pointer.ty = element;
                let index = self.builder.int(index);
                return self.step_descriptor(pointer, ty, index);
            }
            Ty::Array(element, _) => {
                let stride = self.array_stride(pointer, ty, element)?;
                pointer.constant = pointer.constant.wrapping_add(index.wrapping_mul(stride));
            }
            Ty::Matrix(column, _) => {
                let stride = self.column_stride(pointer, column)?;
                pointer.constant = pointer.constant.wrapping_add(index.wrapping_mul(stride));
            }
            Ty::Cooperative(_) if !pointer.is_explicit() => {
                pointer.constant = pointer.constant.wrapping_add(index.wrapping_mul(pointer.unit));
            }
            Ty::Vector(component, _) => {
                let stride = match pointer.is_explicit() {
                    true => self.component_stride(pointer, component)?,
                    false => pointer.unit,
                };
                pointer.constant = pointer.constant.wrapping_add(index.wrapping_mul(stride));
            }
            _ => return Err(Error::Malformed("an index into a scalar")),
        }
        pointer.ty = part.ok_or(Error::Malformed("an index into a scalar"))?;
        Ok(())
    }

    /// Returns a pointer to an element of an array.
    pub(super) fn element(&mut self, array: &Pointer, element: Element) -> Result<Pointer> {
        let &Ty::Array(ty, _) = self.module.ty(array.ty)? else { return Err(Error::Malformed("not an array")) };
        let stride = self.array_stride(array, array.ty, ty)?;
        let mut pointer = Pointer { ty, ..array.clone() };
        pointer.constant = pointer.constant.wrapping_add(element.first.wrapping_mul(stride));
        if let Some(round) = element.round {
            self.advance_by(&mut pointer, round, stride.wrapping_mul(element.step));
        }
        Ok(pointer)
    }

    /// Returns true for images, samplers, sampled images, and composites of them.
    pub(super) fn is_opaque(&self, ty: u32) -> Result<bool> {
        match self.module.ty(ty)? {
            Ty::Image(_) | Ty::Sampler | Ty::SampledImage(_) => Ok(true),
            // Such composites have no scalars. The query of their number also bounds the nesting.
            &Ty::Array(element, _) => Ok(self.words_of(ty)? == 0 && self.is_opaque(element)?),
            Ty::Struct(members) => match members.first() {
                Some(&first) => Ok(self.words_of(ty)? == 0 && self.is_opaque(first)?),
                None => Ok(false),
            },
            _ => Ok(false),
        }
    }

    /// Loads the pointee of a pointer as a flattened value.
    pub(super) fn load(&mut self, pointer: &Pointer) -> Result<Vec<Value>> {
        let words = self.load_words(pointer)?;
        // Components of inputs have 32 bits.
        if pointer.is_plain() { Ok(words) } else { self.narrowed(words, pointer.ty) }
    }

    fn load_words(&mut self, pointer: &Pointer) -> Result<Vec<Value>> {
        let mut places = Vec::new();
        if let Base::Vertices { first, .. } = pointer.base {
            return self.load_vertices(first, pointer);
        }
        if pointer.is_of_all_vertices() {
            let vertices = self.each_vertex(pointer)?;
            let loaded = vertices.iter().map(|vertex| self.load_words(vertex)).collect::<Result<Vec<_>>>()?;
            return Ok(loaded.concat());
        }
        self.places(pointer, &mut places)?;
        places.into_iter().map(|(offset, number)| self.load_word(pointer, offset, number)).collect()
    }

    /// Stores a flattened value.
    pub(super) fn store(&mut self, pointer: &Pointer, words: &[Value]) -> Result<()> {
        if pointer.is_of_all_vertices() {
            let vertices = self.each_vertex(pointer)?;
            let of_each = (words.len() / vertices.len().max(1)).max(1);
            return vertices
                .iter()
                .zip(words.chunks(of_each))
                .try_for_each(|(vertex, words)| self.store(vertex, words));
        }
        let mut places = Vec::new();
        self.places(pointer, &mut places)?;
        if places.len() != words.len() {
            return Err(Error::Malformed("a store of another type"));
        }
        for ((offset, number), &value) in places.into_iter().zip(words) {
            self.store_word(pointer, offset, (value, number))?;
        }
        Ok(())
    }

    /// Appends the constant offset and type of each scalar of a pointee.
    pub(super) fn places(&self, pointer: &Pointer, out: &mut Vec<(u32, Number)>) -> Result<()> {
        if self.constants.flat_words(self.module, pointer.ty)? == 0 {
            return Ok(());
        }
        if !pointer.is_explicit() {
            let numbers = self.numbers(pointer.ty)?.into_iter().enumerate();
            let place = |index: usize| pointer.constant.wrapping_add(index as u32 * pointer.unit);
            out.extend(numbers.map(|(index, number)| (place(index), number)));
            return Ok(());
        }
        match self.module.ty(pointer.ty)?.clone() {
            Ty::Struct(members) => {
                for (index, &member) in members.iter().enumerate() {
                    let offset = self.module.decoration_word((pointer.ty, Some(index as u32)), Decoration::Offset);
                    let mut part = Pointer { ty: member, ..pointer.clone() };
                    part.constant = part.constant.wrapping_add(offset.unwrap_or(0));
                    self.member_layout(&mut part, pointer.ty, index as u32);
                    self.places(&part, out)?;
                }
                Ok(())
            }
            Ty::Array(element, length) => {
                let stride = self.array_stride(pointer, pointer.ty, element)?;
                self.repeat_places(pointer, element, self.constants.length(length)?, stride, out)
            }
            Ty::Matrix(column, count) => {
                let mut whole = pointer.clone();
                let stride = self.column_stride(&mut whole, column)?;
                self.repeat_places(&whole, column, count, stride, out)
            }
            Ty::Cooperative(_) => Err(Error::Malformed("a cooperative matrix in memory with a layout")),
            Ty::Vector(part, count) => {
                self.repeat_places(pointer, part, count, self.component_stride(pointer, part)?, out)
            }
            _ => {
                out.push((pointer.constant, Number::of(self.module, pointer.ty)?));
                Ok(())
            }
        }
    }

    fn member_layout(&self, part: &mut Pointer, ty: u32, index: u32) {
        let target = (ty, Some(index));
        if let Some(stride) = self.module.decoration_word(target, Decoration::MatrixStride) {
            part.matrix = Some(MatrixLayout { stride, row_major: self.module.has(target, Decoration::RowMajor) });
        }
    }

    fn repeat_places(
        &self,
        pointer: &Pointer,
        element: u32,
        count: u32,
        stride: u32,
        out: &mut Vec<(u32, Number)>,
    ) -> Result<()> {
        for index in 0..count {
            let constant = pointer.constant.wrapping_add(index.wrapping_mul(stride));
            self.places(&Pointer { ty: element, constant, ..pointer.clone() }, out)?;
        }
        Ok(())
    }

    fn load_word(&mut self, pointer: &Pointer, offset: u32, number: Number) -> Result<Value> {
        let ty = number.ir();
        match pointer.base {
            Base::Local(local) => Ok(self.builder.local_load(local, offset, pointer.dynamic, ty)),
            Base::Table(low, high) => Ok(self.load_table((low, high), offset, pointer, ty)),
            Base::Input(first) => self.load_input(first, offset, pointer, ty),
            _ => {
                let is_part = pointer.is_explicit() && number.bytes() < 4;
                let load = |this: &mut Self, space, offset| Ok(Some(this.load_scalar(space, offset, number, is_part)));
                let value = self.for_each_space(pointer, offset, ty, load)?;
                Ok(value.unwrap_or_else(|| self.zero(ty)))
            }
        }
    }

    /// Loads a number at a byte offset. A narrow number is extracted from its dword.
    pub(super) fn load_scalar(&mut self, space: Space, offset: Value, number: Number, is_part: bool) -> Value {
        let b = &mut self.builder;
        if is_part {
            let (aligned, rest, eight) = (b.int(!3), b.int(3), b.int(3));
            let first = b.binary(BinaryOp::And, offset, aligned);
            let bytes = b.binary(BinaryOp::And, offset, rest);
            let word = b.load(space, first, Type::I32);
            let shift = b.binary(BinaryOp::Shl, bytes, eight);
            let part = b.binary(BinaryOp::ShrLogical, word, shift);
            return number::decode(b, part, number);
        }
        if number.bytes() == 8 {
            let (low, second) = (b.load(space, offset, Type::I32), self.following(space, offset));
            let high = self.builder.load(second.0, second.1, Type::I32);
            return self.builder.join(low, high, number.ir());
        }
        let ty = if number.ir() == Type::F32 { Type::F32 } else { Type::I32 };
        let word = b.load(space, offset, ty);
        b.cast(word, number.ir())
    }

    /// Returns the location of the next dword. 64-bit numbers are aligned, so the address does not
    /// carry.
    fn following(&mut self, space: Space, offset: Value) -> (Space, Value) {
        let four = self.builder.int(4);
        (space, self.builder.binary(BinaryOp::IAdd, offset, four))
    }

    /// Returns the types of the scalars of a flattened value.
    pub(super) fn numbers(&self, ty: u32) -> Result<Vec<Number>> {
        let mut out = Vec::with_capacity(self.constants.flat_words(self.module, ty)? as usize);
        self.append_numbers(ty, &mut out)?;
        Ok(out)
    }

    /// Loads an input component. A dynamically indexed input is first copied to a local.
    fn load_input(&mut self, first: u32, offset: u32, pointer: &Pointer, ty: Type) -> Result<Value> {
        let Some(dynamic) = pointer.dynamic else {
            let count = self.input_sizes.get(&first).copied().unwrap_or(0);
            return Ok(if offset < count { self.input_word(first + offset, ty) } else { self.zero(ty) });
        };
        let (local, count) = self.input_copy(first)?;
        // One copy serves all components of a load, because they are loaded consecutively.
        if self.copied_at != Some((local, self.builder.len())) {
            for word in 0..count {
                let value = self.input_word(first + word, self.inputs[(first + word) as usize].ty);
                self.builder.local_store(local, word, None, value);
            }
        }
        let value = self.builder.local_load(local, offset, Some(dynamic), ty);
        self.copied_at = Some((local, self.builder.len()));
        Ok(value)
    }

    fn input_word(&mut self, slot: u32, ty: Type) -> Value {
        match self.high_inputs.get(&slot).copied() {
            Some(high) => {
                let [low, high] = [slot, high].map(|slot| self.builder.input(slot, Type::I32));
                self.builder.join(low, high, ty)
            }
            None => self.computed_input(slot).unwrap_or_else(|| self.builder.input(slot, ty)),
        }
    }

    /// Returns a built-in's component that follows from the lane's number or is constant.
    fn computed_input(&mut self, slot: u32) -> Option<Value> {
        let Slot::Builtin(builtin, word) = self.inputs[slot as usize].slot else { return None };
        let is_mask = matches!(
            builtin,
            Builtin::SubgroupEqMask
                | Builtin::SubgroupGeMask
                | Builtin::SubgroupGtMask
                | Builtin::SubgroupLeMask
                | Builtin::SubgroupLtMask
        );
        Some(match builtin {
            Builtin::SubgroupSize => self.builder.int(WAVE as u32),
            Builtin::NumSubgroups => {
                let invocations: u32 = self.local_size.iter().product();
                self.builder.int(invocations.div_ceil(WAVE as u32))
            }
            Builtin::SubgroupLocalInvocationId => self.builder.lane(),
            Builtin::DeviceIndex => self.builder.int(0),
            Builtin::ViewIndex => self.view_index(),
            // The input has the initial state; this instruction returns the current one.
            Builtin::HelperInvocation if self.helpers_change => {
                let result = self.builder.value(Type::Bool);
                self.builder.push(Inst::IsHelper { result });
                result
            }
            // A wave has fewer lanes than the first dword has bits.
            _ if is_mask && word > 0 => self.builder.int(0),
            _ if is_mask => self.lane_mask(builtin),
            _ => return None,
        })
    }

    /// Returns the index of the current view, which follows the push constants.
    pub(super) fn view_index(&mut self) -> Value {
        let offset = self.builder.int(PUSH_CONSTANT_BYTES as u32);
        self.builder.load(Space::Push, offset, Type::I32)
    }

    /// Returns the local to which input variable `first` is copied, and its number of components.
    pub(super) fn input_copy(&mut self, first: u32) -> Result<(Local, u32)> {
        let count = self.input_sizes.get(&first).copied().unwrap_or(0);
        if let Some(&local) = self.input_copies.get(&first) {
            return Ok((local, count));
        }
        let local = self.new_local(count)?;
        self.input_copies.insert(first, local);
        Ok((local, count))
    }

    fn load_table(&mut self, (table, high): (Table, Option<Table>), offset: u32, pointer: &Pointer, ty: Type) -> Value {
        let constant = self.builder.int(offset);
        let index = match pointer.dynamic {
            Some(dynamic) => self.builder.binary(BinaryOp::IAdd, dynamic, constant),
            None => constant,
        };
        if ty.is_wide() {
            let low = self.table_word(table, index, Type::I32);
            let high = match high {
                Some(high) => self.table_word(high, index, Type::I32),
                None => self.builder.int(0),
            };
            return self.builder.join(low, high, ty);
        }
        self.table_word(table, index, ty)
    }

    fn table_word(&mut self, table: Table, index: Value, ty: Type) -> Value {
        let result = self.builder.value(ty);
        self.builder.push(Inst::TableLoad { result, table, index });
        result
    }

    fn store_word(&mut self, pointer: &Pointer, offset: u32, (value, number): (Value, Number)) -> Result<()> {
        match pointer.base {
            Base::Local(local) => self.builder.local_store(local, offset, pointer.dynamic, value),
            // The table already contains every value that is stored.
            Base::Table(..) => {}
            Base::Input(_) | Base::Vertices { .. } | Base::Push => {
                return Err(Error::Malformed("a store to what cannot be written"));
            }
            _ => {
                let is_part = pointer.is_explicit() && number.bytes() < 4;
                self.for_each_space(pointer, offset, Type::I32, |this, space, offset| {
                    this.facts.side_effects |= space != Space::Shared;
                    this.store_scalar(space, offset, value, number, is_part);
                    Ok(None)
                })?;
            }
        }
        Ok(())
    }

    /// Stores a scalar of type `number` at a byte offset. A part occupies less than a dword.
    pub(super) fn store_scalar(&mut self, space: Space, offset: Value, value: Value, number: Number, is_part: bool) {
        if is_part {
            let value = number::code(&mut self.builder, value, number);
            self.builder.push(Inst::StorePart { space, offset, value, bytes: number.bytes() });
            return;
        }
        let [low, high] = self.builder.split(value);
        self.builder.push(Inst::Store { space, offset, value: low });
        if self.builder.is_wide(value) {
            let (space, offset) = self.following(space, offset);
            self.builder.push(Inst::Store { space, offset, value: high });
        }
    }

    /// Returns the byte offset for the constant offset `offset`. It has 64 bits if it is far.
    pub(super) fn byte_offset(&mut self, pointer: &Pointer, offset: u32) -> Value {
        let constant = match self.is_far(pointer) {
            true => self.builder.wide_constant(offset.into(), Type::I64),
            false => self.builder.int(offset),
        };
        match pointer.dynamic {
            Some(dynamic) => self.builder.binary(BinaryOp::IAdd, dynamic, constant),
            None => constant,
        }
    }

    /// Calls `act` with the space and byte offset for constant offset `offset` of a pointer. For a
    /// buffer selected at run time, `act` is called for each candidate, and the result has type
    /// `ty`.
    pub(super) fn for_each_space(
        &mut self,
        pointer: &Pointer,
        offset: u32,
        ty: Type,
        mut act: impl FnMut(&mut Self, Space, Value) -> Result<Option<Value>>,
    ) -> Result<Option<Value>> {
        if let Base::Patch { .. } = pointer.base {
            // Accesses outside of the variable have no effect.
            let at = self.patch_place(pointer, offset)?;
            return at.map_or(Ok(None), |at| act(self, Space::Shared, at));
        }
        let offset = self.byte_offset(pointer, offset);
        let space = match pointer.base {
            Base::Shared(_) => Space::Shared,
            Base::Push => Space::Push,
            Base::Resource(resource) if self.is_far(pointer) => {
                let (space, offset) = self.far_place((resource, pointer.element), offset);
                return act(self, space, offset);
            }
            Base::Resource(resource) => Space::Buffer { resource, element: pointer.element },
            Base::Address(address) => {
                let offset = self.sign_extended(offset);
                let address = self.builder.binary(BinaryOp::IAdd, address, offset);
                let [low, high] = self.builder.split(address);
                return act(self, Space::Address { high }, low);
            }
            Base::Chosen(value, class) => return self.for_each_candidate((value, class), offset, ty, act),
            Base::Local(_) | Base::Table(..) | Base::Input(_) | Base::Vertices { .. } | Base::Patch { .. } => {
                return Err(Error::Malformed("not in memory"));
            }
        };
        act(self, space, offset)
    }
}
