//! Parser of the words of a binary into owned, bounded instructions.

use smallvec::SmallVec;
use spirv::Op;
use vitric_base::host_memory;

use super::{Error, Result};

/// Maximum id bound that is accepted.
const MAX_BOUND: u32 = 1 << 22;

/// Memory that a parsed module uses per word of its binary, in bytes. Instructions are kept twice,
/// in module order and in their functions.
const PARSED_BYTES: usize = 128;

/// Instruction: its operation and operand words, including result type and id.
#[derive(Debug, Clone)]
pub(super) struct Instruction {
    pub(super) op: Op,
    pub(super) words: SmallVec<[u32; 4]>,
}

impl Instruction {
    /// Returns operand word `index`.
    pub(super) fn word(&self, index: usize) -> Result<u32> {
        self.words.get(index).copied().ok_or(Error::Malformed("an instruction is too short"))
    }

    /// Returns the operand words from `index` on, or none if there are fewer.
    pub(super) fn rest(&self, index: usize) -> &[u32] {
        self.words.get(index..).unwrap_or(&[])
    }

    /// Returns the literal string that starts at operand `index`, and the index after it.
    pub(super) fn string(&self, index: usize) -> Result<(String, usize)> {
        let mut bytes = Vec::new();
        for (count, word) in self.rest(index).iter().enumerate() {
            for byte in word.to_le_bytes() {
                if byte == 0 {
                    return Ok((String::from_utf8_lossy(&bytes).into_owned(), index + count + 1));
                }
                bytes.push(byte);
            }
        }
        Err(Error::Malformed("a string does not end"))
    }
}

/// `OpAbortKHR`.
const ABORT: u32 = 5121;
/// `OpConstantDataKHR`.
const CONSTANT_DATA: u32 = 5147;
/// `OpSpecConstantDataKHR`.
const SPEC_CONSTANT_DATA: u32 = 5148;

/// Returns the operation with a number.
///
/// The crate `spirv` has no names for the newest operations. They are read as forms of others that
/// no valid module has: constants whose type is an array, and an unreachable end with operands.
fn operation(number: u32) -> Option<Op> {
    match number {
        ABORT => Some(Op::Unreachable),
        CONSTANT_DATA => Some(Op::Constant),
        SPEC_CONSTANT_DATA => Some(Op::SpecConstant),
        number => Op::from_u32(number),
    }
}

/// Returns true for debug instructions: names, sources, strings and lines. Only non-semantic
/// instructions use their results. Source: SPIR-V specification, "Debug Instructions".
fn is_debug(op: Op) -> bool {
    use Op as O;
    matches!(
        op,
        O::Name
            | O::MemberName
            | O::Source
            | O::SourceContinued
            | O::SourceExtension
            | O::String
            | O::Line
            | O::NoLine
            | O::ModuleProcessed
    )
}

/// Newest accepted version of SPIR-V: 1.6. Later versions may change the meaning of words.
const MAX_VERSION: u32 = 0x0001_0600;

/// Splits a binary into instructions, without those for debugging.
pub(super) fn instructions(words: &[u32]) -> Result<Vec<Instruction>> {
    let [magic, version, _, bound, _, code @ ..] = words else { return Err(Error::Malformed("no header")) };
    if *magic != spirv::MAGIC_NUMBER {
        return Err(Error::Malformed("wrong magic number"));
    }
    if !(0x0001_0000..=MAX_VERSION).contains(version) {
        return Err(Error::Unsupported(format!("version {}.{}", version >> 16, version >> 8 & 0xff)));
    }
    if *bound > MAX_BOUND {
        return Err(Error::Unsupported(format!("id bound {bound}")));
    }
    if !host_memory::has_room(code.len() * PARSED_BYTES) {
        return Err(Error::OutOfMemory);
    }
    let mut out = Vec::new();
    let mut rest = code;
    while let [first, ..] = rest {
        let count = (first >> 16) as usize;
        if count == 0 || count > rest.len() {
            return Err(Error::Malformed("an instruction reaches beyond the end"));
        }
        let number = first & 0xffff;
        let op = operation(number).ok_or_else(|| Error::Unsupported(format!("operation {number}")))?;
        if !is_debug(op) {
            out.push(Instruction { op, words: SmallVec::from_slice(&rest[1..count]) });
        }
        rest = &rest[count..];
    }
    Ok(out)
}
