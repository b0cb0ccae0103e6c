//! Environment that a wave runs in, and instructions over a wave in their environment.

use vitric_base::simd::Lanes;
use vitric_ir::Value;

use crate::Executable;
use crate::bindings::Bindings;
use crate::runtime::native::Native;
use crate::runtime::session::CodeTables;
use crate::runtime::{Deadline, Masks, Ranges, SharedMemory};

/// Environment that a wave runs in.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    /// Resources.
    pub bindings: &'a Bindings,
    /// Parameters, at least as many as the program has. Word `n` is at index `n * WAVE`, so that
    /// the words of 16 primitives occupy consecutive lanes.
    pub parameters: &'a [u32],
    /// Memory ranges that the program accesses by number, at least as many as it has.
    pub ranges: &'a Ranges,
    /// Push constants.
    pub push: &'a [u8],
    /// Shared memory of the workgroup.
    pub shared: Option<&'a SharedMemory>,
    /// Time limit.
    pub deadline: &'a Deadline,
}

impl<'a> Environment<'a> {
    /// Creates an environment with resources and a time limit, and nothing else.
    #[inline]
    pub fn new(bindings: &'a Bindings, deadline: &'a Deadline) -> Self {
        Self { bindings, parameters: &[], ranges: Ranges::none(), push: &[], shared: None, deadline }
    }

    /// Returns the generated code, if there is any that can access all words of the buffers. The
    /// interpreter can.
    #[inline]
    pub(super) fn native<'p>(&self, code: &'p Executable) -> Option<&'p Native> {
        code.native().filter(|native| native.is_far || !self.bindings.has_large_buffer())
    }

    /// Returns the data that generated code accesses directly.
    #[inline]
    pub(super) fn tables(&self) -> CodeTables<'a> {
        CodeTables {
            parameters: self.parameters,
            resources: self.bindings.table(),
            routines: self.bindings.lookups().entries(),
            address_table: self.bindings.addresses().number(),
            ranges: self.ranges.entries(),
            push: self.push,
            shared: self.shared,
        }
    }
}

/// Operands, lanes and environment of an instruction over a wave.
#[derive(Clone, Copy)]
pub struct Access<'a> {
    /// Operands, indexed by value number.
    pub registers: &'a [Lanes],
    /// Lanes to execute the instruction for.
    pub masks: Masks,
    /// Environment of the wave.
    pub environment: &'a Environment<'a>,
}

impl<'a> Access<'a> {
    /// Returns the word of a lane.
    pub(super) fn word(&self, value: Value, lane: usize) -> u32 {
        self.registers[value.0 as usize][lane]
    }

    /// Returns the words of all lanes.
    pub(super) fn lanes(&self, value: Value) -> &'a Lanes {
        &self.registers[value.0 as usize]
    }

    /// Returns the word of a lane, or 0 without an operand.
    pub(super) fn optional(&self, value: Option<Value>, lane: usize) -> u32 {
        value.map_or(0, |value| self.word(value, lane))
    }
}
