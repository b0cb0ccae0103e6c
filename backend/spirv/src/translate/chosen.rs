//! Pointers as values, where a program stores or selects them.
//!
//! The value has 64 bits: an address, or from the top the number of the buffer, the descriptor's
//! element, and the byte offset. The offset has 32 bits, or more if it is far.

use spirv::StorageClass;
use vitric_ir::{BinaryOp, Inst, Space, Type, Value};

use super::Translator;
use super::memory::{Base, EXPLICIT, Pointer};
use crate::module::Ty;
use crate::{Error, Result};

/// Number of bits of a descriptor's element in a pointer's value.
const ELEMENT_BITS: u32 = 20;

impl Translator<'_> {
    /// Calls `act` for the buffers that the value of a pointer with a storage class may name.
    pub(super) fn for_each_candidate(
        &mut self,
        (pointer, class): (Value, StorageClass),
        offset: Value,
        ty: Type,
        mut act: impl FnMut(&mut Self, Space, Value) -> Result<Option<Value>>,
    ) -> Result<Option<Value>> {
        if class == StorageClass::Workgroup {
            let [first, _] = self.builder.split(pointer);
            let offset = self.builder.binary(BinaryOp::IAdd, first, offset);
            return act(self, Space::Shared, offset);
        }
        let (first, place) = self.parts_of_value(pointer);
        let offset = self.builder.binary(BinaryOp::IAdd, first, offset);
        let (bits, mask) = (self.builder.int(ELEMENT_BITS), self.builder.int((1 << ELEMENT_BITS) - 1));
        let element = Some(self.builder.binary(BinaryOp::And, place, mask));
        let chosen = self.builder.binary(BinaryOp::ShrLogical, place, bits);
        let candidates = self.storage_buffers.clone();
        let place = |this: &mut Self, resource| match this.builder.is_wide(offset) {
            true => this.far_place((resource, element), offset),
            false => (Space::Buffer { resource, element }, offset),
        };
        if let [resource] = candidates[..] {
            let (space, offset) = place(self, resource);
            return act(self, space, offset);
        }
        let result = self.new_local(1)?;
        let mut any = None;
        for resource in candidates {
            let number = self.builder.int(resource + 1);
            let condition = self.builder.binary(BinaryOp::IEq, chosen, number);
            self.builder.push(Inst::If { condition });
            let (space, offset) = place(self, resource);
            if let Some(value) = act(self, space, offset)? {
                self.builder.local_store(result, 0, None, value);
                any = Some(());
            }
            self.builder.push(Inst::EndIf);
        }
        Ok(any.map(|()| self.builder.local_load(result, 0, None, ty)))
    }

    /// Returns the value of a pointer.
    pub(super) fn pointer_value(&mut self, pointer: &Pointer) -> Result<Value> {
        let offset = self.byte_offset(pointer, pointer.constant);
        match pointer.base {
            Base::Address(base) | Base::Chosen(base, StorageClass::PhysicalStorageBuffer) => {
                let offset = self.sign_extended(offset);
                Ok(self.builder.binary(BinaryOp::IAdd, base, offset))
            }
            Base::Chosen(base, class) => {
                if class == StorageClass::Workgroup || !self.is_far {
                    let [first, place] = self.builder.split(base);
                    let offset = self.builder.binary(BinaryOp::IAdd, first, offset);
                    return Ok(self.builder.join(offset, place, Type::I64));
                }
                let (first, place) = self.parts_of_value(base);
                let offset = self.builder.binary(BinaryOp::IAdd, first, offset);
                Ok(self.value_of_parts(offset, place))
            }
            // Shared memory has a number too, so that a pointer to its first byte is not null.
            Base::Shared(_) | Base::Resource(_) => {
                let number = if let Base::Resource(resource) = pointer.base { resource + 1 } else { 1 };
                let number = self.builder.int(number << ELEMENT_BITS);
                let place = match pointer.element {
                    Some(element) => self.builder.binary(BinaryOp::Or, number, element),
                    None => number,
                };
                Ok(self.value_of_parts(offset, place))
            }
            _ => Err(Error::Malformed("a pointer or image is used as a value")),
        }
    }

    /// Returns the value of a pointer with an offset into a buffer, or into shared memory, and with
    /// the dword that has the buffer's number above the descriptor's element.
    fn value_of_parts(&mut self, offset: Value, place: Value) -> Value {
        if !self.builder.is_wide(offset) {
            return self.builder.join(offset, place, Type::I64);
        }
        let bits = self.offset_bits();
        let mask = self.builder.wide_constant((1 << bits) - 1, Type::I64);
        let offset = self.builder.binary(BinaryOp::And, offset, mask);
        let (place, bits) = (self.builder.extend(place, false), self.builder.int(bits));
        let place = self.builder.binary(BinaryOp::Shl, place, bits);
        self.builder.binary(BinaryOp::Or, place, offset)
    }

    /// Returns the parts of the value of a pointer into a buffer, as [`Self::value_of_parts`] gets
    /// them.
    fn parts_of_value(&mut self, value: Value) -> (Value, Value) {
        if !self.is_far {
            let [offset, place] = self.builder.split(value);
            return (offset, place);
        }
        let [bits, rest] = [self.offset_bits(), u64::BITS - self.offset_bits()].map(|bits| self.builder.int(bits));
        let place = self.builder.binary(BinaryOp::ShrLogical, value, bits);
        let offset = self.builder.binary(BinaryOp::Shl, value, rest);
        (self.builder.binary(BinaryOp::ShrArithmetic, offset, rest), self.builder.split(place)[0])
    }

    /// Returns the number of bits that the buffers' numbers and the elements leave to a far offset:
    /// 40 with up to 15 resources.
    fn offset_bits(&self) -> u32 {
        let most = self.storage_buffers.iter().max().map_or(0, |resource| resource + 1);
        u64::BITS - ELEMENT_BITS - (u32::BITS - most.leading_zeros())
    }

    /// Returns the distance in bytes from pointer value `b` to `a`, which point into one array.
    pub(super) fn byte_distance(&mut self, a: Value, b: Value) -> Value {
        let [a, b] = [a, b].map(|value| self.parts_of_value(value).0);
        self.builder.binary(BinaryOp::ISub, a, b)
    }

    /// Returns the pointer that a value of pointer type `pointer` represents.
    pub(super) fn pointer_of_value(&self, pointer: u32, value: Value) -> Result<Pointer> {
        // An instruction that uses an untyped pointer names the type of the pointee.
        let (class, ty) = match *self.module.ty(pointer)? {
            Ty::UntypedPointer(class) => (class, pointer),
            _ => self.module.pointee(pointer)?,
        };
        let base = match class {
            StorageClass::PhysicalStorageBuffer => Base::Address(value),
            _ => Base::Chosen(value, class),
        };
        let explicit = class != StorageClass::Workgroup || self.shared_is_explicit;
        let mut pointer = Pointer::new(base, ty);
        pointer.unit = if explicit { EXPLICIT } else { self.shared_unit(ty)? };
        Ok(pointer)
    }
}
