//! Operations on pointers other than loads and stores: steps over elements, comparisons, lengths,
//! atomics and interpolation.

use std::rc::Rc;

use spirv::{Decoration, Op};
use vitric_ir::{AtomicOp, BinaryOp, Inst, InterpolateAt, Space, Type, Value};

use super::instruction::AtomicOperands;
use super::memory::{Base, Pointer};
use super::{Operand, Translator};
use crate::module::Ty;
use crate::number::Number;
use crate::parse::Instruction;
use crate::{Error, Result};

impl Translator<'_> {
    /// Translates `OpPtrAccessChain`: a step over elements with the stride of the pointer type's
    /// decoration, then an access chain into the element.
    pub(super) fn pointer_chain(&mut self, inst: &Instruction) -> Result<()> {
        let (result, id) = (inst.word(0)?, inst.word(1)?);
        let mut pointer = (*self.pointer(inst.word(2)?)?).clone();
        self.step_element(&mut pointer, (inst.word(2)?, inst.word(3)?))?;
        self.follow(&mut pointer, inst.rest(4))?;
        self.define(id, result, Operand::Pointer(Rc::new(pointer)))
    }

    /// Moves the pointer of id `base` over a number of elements (an id).
    pub(super) fn step_element(&mut self, pointer: &mut Pointer, (base, count): (u32, u32)) -> Result<()> {
        let (pointer_type, _) = self.operand(base)?;
        let stride = self.element_stride(pointer, pointer_type)?;
        let constant = self.constants.scalar(count);
        self.advance(pointer, count, constant, stride)
    }

    /// Returns the distance between elements of the array that a pointer points into, in units of
    /// offsets.
    fn element_stride(&self, pointer: &Pointer, pointer_type: u32) -> Result<u32> {
        match pointer.is_explicit() {
            true => Ok(self.module.decoration_word((pointer_type, None), Decoration::ArrayStride).unwrap_or(0)),
            false => Ok(self.words_of(pointer.ty)? * pointer.unit),
        }
    }

    /// Returns the distance between elements of the array that both pointers point into, in units
    /// of offsets. The pointer type declares the stride only if `OpPtrAccessChain` made one of the
    /// pointers.
    fn common_stride(&self, [a, b]: [Rc<Pointer>; 2], pointer_type: u32) -> Result<u32> {
        // Untyped pointers point into arrays of bytes.
        if matches!(self.module.ty(pointer_type)?, Ty::UntypedPointer(_)) {
            return Ok(1);
        }
        let strides = [a.step, b.step, self.element_stride(&a, pointer_type)?];
        match strides.into_iter().find(|stride| *stride != 0) {
            Some(stride) => Ok(stride),
            None => self.explicit_size(a.ty, 0),
        }
    }

    /// Translates comparisons and differences of pointers.
    pub(super) fn compare_pointers(&mut self, inst: &Instruction) -> Result<()> {
        let (ty, id) = (inst.word(0)?, inst.word(1)?);
        let (pointer_type, _) = self.operand(inst.word(2)?)?;
        let (a, b) = (self.word(inst.word(2)?)?, self.word(inst.word(3)?)?);
        let value = match inst.op {
            Op::PtrEqual => self.builder.binary(BinaryOp::IEq, a, b),
            Op::PtrNotEqual => self.builder.binary(BinaryOp::INe, a, b),
            _ => {
                let pointers = [self.pointer(inst.word(2)?)?, self.pointer(inst.word(3)?)?];
                let stride = self.common_stride(pointers, pointer_type)?;
                let bytes = self.byte_distance(a, b);
                let stride = self.builder.int_like(bytes, stride.max(1).into());
                self.builder.binary(BinaryOp::SDiv, bytes, stride)
            }
        };
        let is_wide = Number::of(self.module, ty)? == Number::Int(64);
        let value = if is_wide { self.sign_extended(value) } else { self.builder.split(value)[0] };
        self.define_words(id, ty, vec![value])
    }

    /// Translates `OpArrayLength`, the length of the runtime array at the end of a block.
    pub(super) fn array_length(&mut self, inst: &Instruction) -> Result<()> {
        let pointer = self.pointer(inst.word(2)?)?;
        self.length_of(inst, &pointer, inst.word(3)?)
    }

    /// Defines the result of an instruction as the length of the runtime array in a member of a
    /// block.
    pub(super) fn length_of(&mut self, inst: &Instruction, pointer: &Pointer, member: u32) -> Result<()> {
        let Base::Resource(resource) = pointer.base else { return Err(Error::Malformed("not a buffer")) };
        let Ty::Struct(members) = self.module.ty(pointer.ty)? else { return Err(Error::Malformed("not a block")) };
        let array = *members.get(member as usize).ok_or(Error::Malformed("an index is out of range"))?;
        let stride = self.module.decoration_word((array, None), Decoration::ArrayStride).unwrap_or(4);
        let offset = self.module.decoration_word((pointer.ty, Some(member)), Decoration::Offset).unwrap_or(0);
        let size = self.buffer_length(resource, pointer.element);
        let [offset, stride] = [offset, stride.max(1)].map(|bytes| self.builder.int_like(size, bytes.into()));
        let bytes = self.builder.binary(BinaryOp::UMax, size, offset);
        let bytes = self.builder.binary(BinaryOp::ISub, bytes, offset);
        let length = self.builder.binary(BinaryOp::UDiv, bytes, stride);
        let length = match Number::of(self.module, inst.word(0)?)? {
            Number::Int(64) => self.sign_extended(length),
            _ => self.builder.split(length)[0],
        };
        self.define_words(inst.word(1)?, inst.word(0)?, vec![length])
    }

    /// Appends an atomic operation on the scalar that a pointer points to.
    pub(super) fn atomic_word(&mut self, pointer: &Pointer, operands: AtomicOperands) -> Result<Value> {
        let AtomicOperands { op, value, comparator } = operands;
        let number = Number::of(self.module, pointer.ty)?;
        if number.bytes() < 4 {
            return Err(Error::Unsupported("an atomic of fewer than 32 bits".into()));
        }
        let ty = if number.bytes() == 8 { Type::I64 } else { Type::I32 };
        let result = self.for_each_space(pointer, pointer.constant, ty, |this, space, offset| {
            this.facts.side_effects |= op != AtomicOp::Load && space != Space::Shared;
            let b = &mut this.builder;
            if ty == Type::I64 {
                return Ok(Some(b.atomic64(space, offset, op, value, comparator)));
            }
            let [value, comparator] = [Some(value), comparator].map(|word| word.map(|word| b.cast(word, Type::I32)));
            Ok(value.map(|value| b.atomic(space, offset, op, value, comparator)))
        })?;
        let result = result.unwrap_or_else(|| self.zero(ty));
        Ok(self.builder.cast(result, number.ir()))
    }

    /// Loads an input interpolated at another position than the declared one.
    pub(super) fn interpolate_input(&mut self, pointer: &Pointer, at: InterpolateAt) -> Result<Vec<Value>> {
        let Base::Input(first) = pointer.base else { return Err(Error::Malformed("interpolation of no input")) };
        let scalars = self.scalars(pointer.ty)?;
        let Some(dynamic) = pointer.dynamic else {
            let count = self.input_sizes.get(&first).copied().unwrap_or(0);
            let word = |(word, ty): (usize, Type)| match pointer.constant.checked_add(word as u32) {
                Some(word) if word < count => self.interpolate_word(first + word, ty, at),
                _ => self.zero(ty),
            };
            let words = scalars.into_iter().enumerate().map(word).collect();
            return self.narrowed(words, pointer.ty);
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
        let words = scalars.into_iter().enumerate().map(load).collect();
        self.narrowed(words, pointer.ty)
    }

    fn interpolate_word(&mut self, slot: u32, ty: Type, at: InterpolateAt) -> Value {
        let result = self.builder.value(ty);
        self.builder.push(Inst::Interpolate { result, slot, at });
        result
    }
}
