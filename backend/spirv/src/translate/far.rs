//! Offsets of 64 bits into storage buffers and addressed memory, for programs that ask for 64-bit
//! indexing.
//!
//! Source: Vulkan specification, "64-Bit Indexing"; `SPV_EXT_shader_64bit_indexing`.

use spirv::StorageClass;
use vitric_ir::{BinaryOp, Inst, Space, Type, Value};

use super::Translator;
use super::memory::{Base, Pointer};
use crate::Result;
use crate::number::Number;

/// Bits of the high dword of a location in a far resource that belong to the offset.
const HIGH_BITS: u32 = Space::FAR_BITS - 32;

/// Bound of the constant part of an offset, which has 32 bits: members that follow do not overflow
/// it.
const CONSTANT_LIMIT: u32 = 1 << 16;

/// The largest high dword of an offset.
const LAST_HIGH: u32 = (1 << HIGH_BITS) - 1;

impl Translator<'_> {
    /// Returns true if offsets from the pointer's base have 64 bits.
    pub(super) fn is_far(&self, pointer: &Pointer) -> bool {
        self.is_far
            && match pointer.base {
                Base::Resource(resource) => self.storage_buffers.contains(&resource),
                Base::Address(_) => true,
                Base::Chosen(_, class) => class != StorageClass::Workgroup,
                _ => false,
            }
    }

    /// Moves a pointer with far offsets by `index` (an id) times `stride`. Indices are signed.
    pub(super) fn advance_far(&mut self, pointer: &mut Pointer, index: u32, stride: u32) -> Result<()> {
        if let Some((ty, &[word, ..])) = self.constants.get(index) {
            let unused = u64::BITS - 8 * Number::of(self.module, ty)?.bytes();
            let index = (word << unused) as i64 >> unused;
            let offset = index.wrapping_mul(stride.into());
            let constant = u32::try_from(offset.wrapping_add(pointer.constant.into()));
            if let Some(constant) = constant.ok().filter(|constant| *constant < CONSTANT_LIMIT) {
                pointer.constant = constant;
                return Ok(());
            }
            let index = self.builder.wide_constant(index as u64, Type::I64);
            self.advance_by(pointer, index, stride);
            return Ok(());
        }
        let index = self.word(index)?;
        self.advance_by(pointer, index, stride);
        Ok(())
    }

    /// Returns a signed offset or index with 64 bits.
    pub(super) fn sign_extended(&mut self, value: Value) -> Value {
        if self.builder.is_wide(value) { value } else { self.builder.extend(value, true) }
    }

    /// Returns the place at a far offset in a resource's element.
    pub(super) fn far_place(&mut self, (resource, element): (u32, Option<Value>), offset: Value) -> (Space, Value) {
        let [low, high] = self.builder.split(offset);
        let element = element.map(|element| {
            let bits = self.builder.int(HIGH_BITS);
            self.builder.binary(BinaryOp::Shl, element, bits)
        });
        let high = self.high_of_location(high, element);
        (Space::Far { resource, high }, low)
    }

    /// Returns the place at a distance of 64 bits from a place that operands locate.
    pub(super) fn located_behind(&mut self, (space, offset): (Space, Value), distance: Value) -> (Space, Value) {
        let Some(high) = space.operand() else { return (space, offset) };
        let [of_offset, of_element] = [LAST_HIGH, !LAST_HIGH].map(|mask| self.builder.int(mask));
        let is_far = matches!(space, Space::Far { .. });
        let first = if is_far { self.builder.binary(BinaryOp::And, high, of_offset) } else { high };
        let first = self.builder.join(offset, first, Type::I64);
        let moved = self.builder.binary(BinaryOp::IAdd, first, distance);
        let [low, mut moved] = self.builder.split(moved);
        if is_far {
            let element = self.builder.binary(BinaryOp::And, high, of_element);
            moved = self.high_of_location(moved, Some(element));
        }
        let mut space = space;
        space.operand_mut().into_iter().for_each(|high| *high = moved);
        (space, low)
    }

    /// Returns the high dword of a location in a far resource: that of the offset, with the element
    /// above it. No buffer reaches the offsets that replace negative and too large ones.
    fn high_of_location(&mut self, high: Value, element: Option<Value>) -> Value {
        let last = self.builder.int(LAST_HIGH);
        let high = self.builder.binary(BinaryOp::UMin, high, last);
        element.map_or(high, |element| self.builder.binary(BinaryOp::Or, high, element))
    }

    /// Returns the size of a buffer's bound range with 64 bits if offsets are far, else with 32.
    pub(super) fn buffer_length(&mut self, resource: u32, element: Option<Value>) -> Value {
        let mut part = |word| {
            let result = self.builder.value(Type::I32);
            self.builder.push(Inst::BufferLength { result, resource, element, word });
            result
        };
        if !self.is_far {
            return part(None);
        }
        let [low, high] = [part(Some(0)), part(Some(1))];
        self.builder.join(low, high, Type::I64)
    }
}
