//! Execution mode `DenormFlushToZero`: operations that flush denormals of a type of floats.
//!
//! The operands of such an operation are flushed, and its result is. Loads, copies, selections,
//! phis and composites keep all bits. An operation that becomes several instructions is flushed
//! as a whole, so a contracted product is not flushed. `passes::denormals` removes flushes of
//! values that are not denormal.
//!
//! Source: `SPV_KHR_float_controls`; Vulkan specification, `VK_KHR_shader_float_controls`, issues.

use std::rc::Rc;

use spirv::ExecutionMode;
use vitric_ir::{Type, UnaryOp, Value};

use super::Translator;
use crate::Result;
use crate::module::{EntryPoint, Module};
use crate::number::{self, Number};

/// Returns the types of floats for which an entry point has an execution mode.
pub(super) fn numbers_of_mode(module: &Module, point: &EntryPoint, mode: ExecutionMode) -> Vec<Number> {
    let of_point = module.modes.iter().filter(|(function, other, _)| *function == point.function && *other == mode);
    of_point.filter_map(|(_, _, operands)| operands.first().map(|&bits| Number::Float(bits))).collect()
}

impl Translator<'_> {
    /// Returns the words of a type's scalars with denormals flushed.
    pub(super) fn flushed_words(&mut self, ty: u32, words: Rc<[Value]>) -> Result<Rc<[Value]>> {
        let numbers = self.numbers(ty)?;
        if !numbers.iter().any(|&number| self.constants.flushes(number)) {
            return Ok(words);
        }
        Ok(words.iter().zip(numbers).map(|(&word, number)| self.flushed(word, number)).collect())
    }

    /// Returns a value with denormals flushed, if the entry point requests it for its type.
    pub(super) fn flushed(&mut self, value: Value, number: Number) -> Value {
        if !self.constants.flushes(number) || self.not_denormal.contains(&(value, number)) {
            return value;
        }
        if let [Some(low), Some(high)] = self.builder.split(value).map(|word| self.builder.as_constant(word)) {
            let bits = if number == Number::Float(64) { u64::from(low) | u64::from(high) << 32 } else { low.into() };
            return match (number::flushed_constant(bits, number), number) {
                (flushed, _) if flushed == bits => value,
                (flushed, Number::Float(64)) => self.builder.wide_constant(flushed, Type::F64),
                (flushed, _) => self.builder.constant(flushed as u32, Type::F32),
            };
        }
        let op = match number {
            Number::Float(16) => UnaryOp::FlushHalfDenormal,
            _ => UnaryOp::FlushDenormal,
        };
        let flushed = self.builder.unary(op, value);
        self.not_denormal.insert((flushed, number));
        if let Some(&factors) = self.products.get(&value) {
            self.products.insert(flushed, factors);
        }
        flushed
    }
}
