//! Pointers: symbolic until they are loaded or stored.
//!
//! Locals, inputs and shared memory are laid out tightly in words; buffers and push constants by the module's `Offset`,
//! `ArrayStride` and `MatrixStride`. An offset is a constant part plus an optional dynamic one, in words for locals and
//! inputs, and in bytes for everything else.

use std::rc::Rc;

use spirv::Decoration;

use super::{Operand, Translator};
use crate::shader::ir::{AtomicOp, BinaryOp, Inst, InterpolateAt, Local, Space, Table, Type, Value};
use crate::shader::spirv::module::Ty;
use crate::shader::spirv::parse::Instruction;
use crate::shader::spirv::{Error, Result};

/// What a pointer points into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    Local(Local),
    /// A local that never changes.
    Table(Table),
    /// First input slot.
    Input(u32),
    /// First byte.
    Shared(u32),
    Push,
    /// Index into the program's resources.
    Resource(u32),
}

/// How a matrix lies in memory with explicit layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MatrixLayout {
    stride: u32,
    row_major: bool,
}

/// A pointer.
#[derive(Debug, Clone)]
pub(super) struct Pointer {
    pub(super) base: Base,
    /// Type of what it points to.
    pub(super) ty: u32,
    constant: u32,
    dynamic: Option<Value>,
    /// Element of an array of resources.
    pub(super) element: Option<Value>,
    matrix: Option<MatrixLayout>,
    /// Bytes between components of a vector in memory with explicit layout.
    component_stride: u32,
    /// `OpImageTexelPointer`: coordinates and sample.
    pub(super) texel: Option<(Vec<Value>, Value)>,
}

impl Pointer {
    /// A pointer to a whole variable of type `ty`.
    pub(super) fn new(base: Base, ty: u32) -> Self {
        let constant = if let Base::Shared(offset) = base { offset } else { 0 };
        Self { base, ty, constant, dynamic: None, element: None, matrix: None, component_stride: 4, texel: None }
    }

    fn is_explicit(&self) -> bool {
        matches!(self.base, Base::Push | Base::Resource(_))
    }

    /// Units of an offset per word.
    fn unit(&self) -> u32 {
        if matches!(self.base, Base::Local(_) | Base::Table(_) | Base::Input(_)) { 1 } else { 4 }
    }
}

impl Translator<'_> {
    pub(super) fn access_chain(&mut self, inst: &Instruction) -> Result<()> {
        let (result, id) = (inst.word(0)?, inst.word(1)?);
        let mut pointer = (*self.pointer(inst.word(2)?)?).clone();
        for &index in inst.rest(3) {
            self.step(&mut pointer, index)?;
        }
        self.define(id, result, Operand::Pointer(Rc::new(pointer)))
    }

    /// Moves a pointer into member `index` (an id) of what it points to.
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
                if matches!(pointer.base, Base::Resource(_)) && self.is_descriptor_array(ty, element)? {
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
            Ty::Vector(part, _) => {
                pointer.ty = part;
                let stride = if pointer.is_explicit() { pointer.component_stride } else { pointer.unit() };
                self.advance(pointer, index, constant, stride)
            }
            _ => Err(Error::Malformed("an access chain into a scalar")),
        }
    }

    /// Moves into an array of resources; arrays of arrays are numbered row by row.
    fn step_descriptor(&mut self, pointer: &mut Pointer, array: u32, index: u32) -> Result<()> {
        let index = self.word(index)?;
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

    /// Arrays of resources have no stride: their elements are descriptors.
    fn is_descriptor_array(&self, array: u32, element: u32) -> Result<bool> {
        let opaque = matches!(self.module.ty(element)?, Ty::Image(_) | Ty::Sampler | Ty::SampledImage(_));
        Ok(opaque || !self.module.has((array, None), Decoration::ArrayStride))
    }

    fn step_member(&mut self, pointer: &mut Pointer, ty: u32, index: u32) -> Result<()> {
        let target = (ty, Some(index));
        if !pointer.is_explicit() {
            let offset = self.constants.member(self.module, ty, index)?.0 * pointer.unit();
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
            false => Ok(self.words_of(element)? * pointer.unit()),
        }
    }

    /// Bytes (or words) from column to column; sets the stride of components.
    fn column_stride(&self, pointer: &mut Pointer, column: u32) -> Result<u32> {
        if !pointer.is_explicit() {
            return Ok(self.words_of(column)? * pointer.unit());
        }
        let layout = pointer.matrix.unwrap_or(MatrixLayout { stride: 16, row_major: false });
        if layout.row_major {
            pointer.component_stride = layout.stride;
            return Ok(4);
        }
        pointer.component_stride = 4;
        Ok(layout.stride)
    }

    fn advance(&mut self, pointer: &mut Pointer, index: u32, constant: Option<u32>, stride: u32) -> Result<()> {
        if let Some(constant) = constant {
            pointer.constant = pointer.constant.wrapping_add(constant.wrapping_mul(stride));
            return Ok(());
        }
        let index = self.word(index)?;
        let stride = self.builder.int(stride);
        let scaled = self.builder.binary(BinaryOp::IMul, index, stride);
        pointer.dynamic = Some(match pointer.dynamic {
            Some(dynamic) => self.builder.binary(BinaryOp::IAdd, dynamic, scaled),
            None => scaled,
        });
        Ok(())
    }

    /// Loads what a pointer points to, flattened.
    pub(super) fn load(&mut self, pointer: &Pointer) -> Result<Vec<Value>> {
        let mut places = Vec::new();
        self.places(pointer, &mut places)?;
        places.into_iter().map(|(offset, ty)| self.load_word(pointer, offset, ty)).collect()
    }

    /// Stores a flattened value.
    pub(super) fn store(&mut self, pointer: &Pointer, words: &[Value]) -> Result<()> {
        let mut places = Vec::new();
        self.places(pointer, &mut places)?;
        if places.len() != words.len() {
            return Err(Error::Malformed("a store of another type"));
        }
        for ((offset, _), &value) in places.into_iter().zip(words) {
            self.store_word(pointer, offset, value)?;
        }
        Ok(())
    }

    /// The constant offset and type of each word of what a pointer points to.
    fn places(&self, pointer: &Pointer, out: &mut Vec<(u32, Type)>) -> Result<()> {
        if self.words_of(pointer.ty)? == 0 {
            return Ok(());
        }
        let unit = pointer.unit();
        let scalars = || self.scalars(pointer.ty);
        if !pointer.is_explicit() {
            let words = scalars()?.into_iter().enumerate();
            out.extend(words.map(|(word, ty)| (pointer.constant.wrapping_add(word as u32 * unit), ty)));
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
            Ty::Vector(part, count) => self.repeat_places(pointer, part, count, pointer.component_stride, out),
            _ => {
                out.push((pointer.constant, crate::shader::spirv::interface::scalar_type(self.module, pointer.ty)?));
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
        out: &mut Vec<(u32, Type)>,
    ) -> Result<()> {
        for index in 0..count {
            let constant = pointer.constant.wrapping_add(index.wrapping_mul(stride));
            self.places(&Pointer { ty: element, constant, ..pointer.clone() }, out)?;
        }
        Ok(())
    }

    fn load_word(&mut self, pointer: &Pointer, offset: u32, ty: Type) -> Result<Value> {
        match pointer.base {
            Base::Local(local) => Ok(self.builder.local_load(local, offset, pointer.dynamic, ty)),
            Base::Table(table) => Ok(self.load_table(table, offset, pointer, ty)),
            Base::Input(first) => self.load_input(first, offset, pointer, ty),
            _ => {
                let (space, offset) = self.place(pointer, offset)?;
                let ty_loaded = if ty == Type::Bool { Type::I32 } else { ty };
                let word = self.builder.load(space, offset, ty_loaded);
                Ok(self.builder.cast(word, ty))
            }
        }
    }

    /// A dynamically indexed input goes through a local that all words of the variable are copied to.
    fn load_input(&mut self, first: u32, offset: u32, pointer: &Pointer, ty: Type) -> Result<Value> {
        let Some(dynamic) = pointer.dynamic else {
            let slot = first.checked_add(offset).filter(|&slot| (slot as usize) < self.inputs.len());
            let slot = slot.ok_or(Error::Malformed("an index is out of range"))?;
            return Ok(self.builder.input(slot, ty));
        };
        let (local, count) = self.input_copy(first)?;
        // The copy is made once for all words of a load: they follow each other.
        if self.copied_at != Some((local, self.builder.len())) {
            for word in 0..count {
                let value = self.builder.input(first + word, self.inputs[(first + word) as usize].ty);
                self.builder.local_store(local, word, None, value);
            }
        }
        let value = self.builder.local_load(local, offset, Some(dynamic), ty);
        self.copied_at = Some((local, self.builder.len()));
        Ok(value)
    }

    /// The local that input variable `first` is copied to, and its words.
    fn input_copy(&mut self, first: u32) -> Result<(Local, u32)> {
        let count = self.input_sizes.get(&first).copied().unwrap_or(0);
        if let Some(&local) = self.input_copies.get(&first) {
            return Ok((local, count));
        }
        let local = self.new_local(count)?;
        self.input_copies.insert(first, local);
        Ok((local, count))
    }

    fn load_table(&mut self, table: Table, offset: u32, pointer: &Pointer, ty: Type) -> Value {
        let constant = self.builder.int(offset);
        let index = match pointer.dynamic {
            Some(dynamic) => self.builder.binary(BinaryOp::IAdd, dynamic, constant),
            None => constant,
        };
        let result = self.builder.value(ty);
        self.builder.push(Inst::TableLoad { result, table, index });
        result
    }

    fn store_word(&mut self, pointer: &Pointer, offset: u32, value: Value) -> Result<()> {
        match pointer.base {
            Base::Local(local) => self.builder.local_store(local, offset, pointer.dynamic, value),
            // What is stored is what the table holds.
            Base::Table(_) => {}
            Base::Input(_) | Base::Push => return Err(Error::Malformed("a store to what cannot be written")),
            _ => {
                let (space, offset) = self.place(pointer, offset)?;
                self.facts.side_effects |= matches!(space, Space::Buffer { .. });
                self.builder.push(Inst::Store { space, offset, value });
            }
        }
        Ok(())
    }

    /// Space and byte offset of the word at constant offset `offset`.
    fn place(&mut self, pointer: &Pointer, offset: u32) -> Result<(Space, Value)> {
        let space = match pointer.base {
            Base::Shared(_) => Space::Shared,
            Base::Push => Space::Push,
            Base::Resource(resource) => Space::Buffer { resource, element: pointer.element },
            Base::Local(_) | Base::Table(_) | Base::Input(_) => return Err(Error::Malformed("not in memory")),
        };
        let constant = self.builder.int(offset);
        let offset = match pointer.dynamic {
            Some(dynamic) => self.builder.binary(BinaryOp::IAdd, dynamic, constant),
            None => constant,
        };
        Ok((space, offset))
    }

    /// `OpArrayLength`: elements of the runtime array that is a block's last member.
    pub(super) fn array_length(&mut self, inst: &Instruction) -> Result<()> {
        let pointer = self.pointer(inst.word(2)?)?;
        let member = inst.word(3)?;
        let Base::Resource(resource) = pointer.base else { return Err(Error::Malformed("not a buffer")) };
        let Ty::Struct(members) = self.module.ty(pointer.ty)? else { return Err(Error::Malformed("not a block")) };
        let array = *members.get(member as usize).ok_or(Error::Malformed("an index is out of range"))?;
        let stride = self.module.decoration_word((array, None), Decoration::ArrayStride).unwrap_or(4);
        let offset = self.module.decoration_word((pointer.ty, Some(member)), Decoration::Offset).unwrap_or(0);
        let result = self.builder.value(Type::I32);
        self.builder.push(Inst::BufferLength { result, resource, element: pointer.element });
        let (offset, stride) = (self.builder.int(offset), self.builder.int(stride));
        let bytes = self.builder.binary(BinaryOp::UMax, result, offset);
        let bytes = self.builder.binary(BinaryOp::ISub, bytes, offset);
        let length = self.builder.binary(BinaryOp::UDiv, bytes, stride);
        self.define_words(inst.word(1)?, inst.word(0)?, vec![length])
    }

    /// An atomic on the word a pointer points to.
    pub(super) fn atomic_word(
        &mut self,
        pointer: &Pointer,
        op: AtomicOp,
        value: Value,
        comparator: Option<Value>,
    ) -> Result<Value> {
        let (space, offset) = self.place(pointer, pointer.constant)?;
        self.facts.side_effects |= op != AtomicOp::Load && matches!(space, Space::Buffer { .. });
        Ok(self.builder.atomic(space, offset, op, value, comparator))
    }

    /// Loads an input interpolated at another place than the declared one.
    pub(super) fn interpolate_input(&mut self, pointer: &Pointer, at: InterpolateAt) -> Result<Vec<Value>> {
        let Base::Input(first) = pointer.base else { return Err(Error::Malformed("interpolation of no input")) };
        let scalars = self.scalars(pointer.ty)?;
        let Some(dynamic) = pointer.dynamic else {
            let slot = |word: usize| first.checked_add(pointer.constant)?.checked_add(word as u32);
            let known = |slot: &u32| (*slot as usize) < self.inputs.len();
            let slots: Option<Vec<u32>> = (0..scalars.len()).map(|word| slot(word).filter(known)).collect();
            let slots = slots.ok_or(Error::Malformed("an index is out of range"))?;
            return Ok(slots.into_iter().zip(scalars).map(|(slot, ty)| self.interpolate_word(slot, ty, at)).collect());
        };
        let (local, count) = self.input_copy(first)?;
        for word in 0..count {
            let value = self.interpolate_word(first + word, self.inputs[(first + word) as usize].ty, at);
            self.builder.local_store(local, word, None, value);
        }
        let load = |(word, ty)| {
            let base = pointer.constant.wrapping_add(word as u32);
            self.builder.local_load(local, base, Some(dynamic), ty)
        };
        Ok(scalars.into_iter().enumerate().map(load).collect())
    }

    fn interpolate_word(&mut self, slot: u32, ty: Type, at: InterpolateAt) -> Value {
        let result = self.builder.value(ty);
        self.builder.push(Inst::Interpolate { result, slot, at });
        result
    }
}
