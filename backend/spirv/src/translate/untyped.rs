//! Untyped pointers. An instruction that uses such a pointer names the type of the pointee.
//!
//! Source: `SPV_KHR_untyped_pointers`.

use std::rc::Rc;

use vitric_ir::Type;

use super::memory::Pointer;
use super::{Operand, Translator};
use crate::module::{MAX_FLAT_WORDS, Ty};
use crate::number::Number;
use crate::parse::Instruction;
use crate::{Error, Result};

impl Translator<'_> {
    /// Returns the pointer of id `id`, whose pointee has type `ty`. Other types than that of the
    /// memory are possible with untyped pointers only.
    pub(super) fn pointer_to(&mut self, id: u32, ty: u32) -> Result<Rc<Pointer>> {
        let pointer = self.pointer(id)?;
        match self.is_untyped(id)? {
            true => pointer.of_type(ty).map(Rc::new),
            false => Ok(pointer),
        }
    }

    fn is_untyped(&mut self, id: u32) -> Result<bool> {
        let (pointer_type, _) = self.operand(id)?;
        Ok(matches!(self.module.ty(pointer_type)?, Ty::UntypedPointer(_)))
    }

    /// Translates `OpUntypedAccessChainKHR`. Its base may also be a typed pointer.
    pub(super) fn untyped_chain(&mut self, inst: &Instruction) -> Result<()> {
        let mut pointer = self.pointer(inst.word(3)?)?.of_type(inst.word(2)?)?;
        self.follow(&mut pointer, inst.rest(4))?;
        self.define(inst.word(1)?, inst.word(0)?, Operand::Pointer(Rc::new(pointer)))
    }

    /// Translates `OpUntypedPtrAccessChainKHR`: a step over elements with the stride of the
    /// pointer type's decoration, then an access chain into the element.
    pub(super) fn untyped_pointer_chain(&mut self, inst: &Instruction) -> Result<()> {
        let base = inst.word(3)?;
        let mut pointer = self.pointer(base)?.of_type(inst.word(2)?)?;
        self.step_element(&mut pointer, (base, inst.word(4)?))?;
        self.follow(&mut pointer, inst.rest(5))?;
        self.define(inst.word(1)?, inst.word(0)?, Operand::Pointer(Rc::new(pointer)))
    }

    /// Translates `OpUntypedArrayLengthKHR`.
    pub(super) fn untyped_array_length(&mut self, inst: &Instruction) -> Result<()> {
        let pointer = self.pointer(inst.word(3)?)?.of_type(inst.word(2)?)?;
        self.length_of(inst, &pointer, inst.word(4)?)
    }

    /// Translates `OpCopyMemory`. One of the pointers may be untyped, and has the pointee of the
    /// other one.
    pub(super) fn copy_instruction(&mut self, inst: &Instruction) -> Result<()> {
        let (target, source) = (self.pointer(inst.word(0)?)?, self.pointer(inst.word(1)?)?);
        match [self.is_untyped(inst.word(0)?)?, self.is_untyped(inst.word(1)?)?] {
            [true, false] => self.copy_memory(&Rc::new(target.of_type(source.ty)?), &source),
            [false, true] => self.copy_memory(&target, &Rc::new(source.of_type(target.ty)?)),
            [true, true] => Err(Error::Malformed("a copy between two untyped pointers")),
            [false, false] => self.copy_memory(&target, &source),
        }
    }

    /// Translates `OpCopyMemorySized` with a constant size.
    pub(super) fn copy_bytes(&mut self, inst: &Instruction) -> Result<()> {
        let (target, source) = (self.pointer(inst.word(0)?)?, self.pointer(inst.word(1)?)?);
        let size = self.constants.scalar(inst.word(2)?).filter(|size| *size <= MAX_FLAT_WORDS);
        let size = size.ok_or_else(|| Error::Unsupported("a copy of a variable or large size".into()))?;
        self.charge_work(size as usize)?;
        let byte = Number::Int(8);
        for at in 0..size {
            let load = |this: &mut Self, space, offset| Ok(Some(this.load_scalar(space, offset, byte, true)));
            let value = self.for_each_space(&source, source.constant.wrapping_add(at), Type::I32, load)?;
            let value = value.unwrap_or_else(|| self.zero(Type::I32));
            self.for_each_space(&target, target.constant.wrapping_add(at), Type::I32, |this, space, offset| {
                this.facts.side_effects |= space != vitric_ir::Space::Shared;
                this.store_scalar(space, offset, value, byte, true);
                Ok(None)
            })?;
        }
        Ok(())
    }
}
