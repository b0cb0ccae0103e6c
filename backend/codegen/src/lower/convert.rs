//! Conversions between the forms of a value. A conversion is cached and reused within the region
//! in which it was made.

use foldhash::HashMap;
use iced_x86::Code;
use regalloc2::VReg;
use vitric_ir::Value;

use super::super::machine::{MASK, Mem, Operand, SCALAR, VECTOR};
use super::super::table::{Compare, Order, V};
use super::classify::Form;
use super::emit::Source;
use super::{Lower, ValueLocation, WaveRegs};
use crate::Target;

/// Owner of resources and push constants: the routine of an image instruction, by number, or
/// `None` for the program itself.
pub(super) type Of = Option<u32>;

/// Key of a cached conversion or address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key {
    /// A value as a vector.
    Vector(Value),
    /// A value as a mask.
    Mask(Value),
    /// A value in a general register.
    Scalar(Value),
    /// A constant in a vector.
    Constant(u32),
    /// A constant in a general register.
    ScalarConstant(u32),
    /// The address of the entry of a resource's first buffer.
    Entry(Of, u32),
    /// The first byte of a resource's first buffer.
    Base(Of, u32),
    /// The address of the inputs.
    Inputs,
    /// The address of the parameters.
    Parameters,
    /// The address of the push constants.
    Push(Of),
    /// The lanes of a mask that are not helpers.
    Effective(VReg),
    /// 64-bit numbers with a low and a high dword, for one half of the lanes.
    Wide([Value; 2], usize),
    /// The offset of a quad's first lane, by register and by the quad's index in it.
    QuadOffset(VReg, i32),
}

/// Conversions that are valid at the current position, in the order in which they were made.
#[derive(Debug, Default)]
pub struct Cache {
    known: HashMap<Key, WaveRegs>,
    made: Vec<Key>,
}

impl Cache {
    /// Returns a mark of the current position, to which `forget` returns when a region ends.
    pub fn mark(&self) -> usize {
        self.made.len()
    }

    /// Removes the conversions made since a mark, because they do not dominate the code that
    /// follows.
    pub fn forget(&mut self, mark: usize) {
        for key in self.made.drain(mark..) {
            self.known.remove(&key);
        }
    }
}

impl Lower<'_> {
    pub(super) fn cached(&mut self, key: Key, make: impl FnOnce(&mut Self) -> WaveRegs) -> WaveRegs {
        if let Some(&parts) = self.converted.known.get(&key) {
            return parts;
        }
        let parts = make(self);
        self.converted.known.insert(key, parts);
        self.converted.made.push(key);
        parts
    }

    /// Returns the dword of a constant.
    pub(super) fn constant(&self, value: Value) -> Option<u32> {
        match self.values[value.0 as usize] {
            ValueLocation::Constant(word) => Some(word),
            _ => None,
        }
    }

    /// Returns true if a value is best used as the last source of a vector instruction, which may
    /// be in memory.
    pub(super) fn is_memory(&self, value: Value) -> bool {
        match self.values[value.0 as usize] {
            ValueLocation::Constant(_) => true,
            ValueLocation::Memory(_) => {
                self.target == Target::Avx512 && !self.converted.known.contains_key(&Key::Vector(value))
            }
            _ => false,
        }
    }

    /// Returns a value in vectors.
    pub(super) fn vector(&mut self, value: Value) -> WaveRegs {
        match self.values[value.0 as usize] {
            ValueLocation::Vector(parts) => parts,
            ValueLocation::Constant(word) => self.cached(Key::Constant(word), |lower| lower.broadcast_constant(word)),
            ValueLocation::Scalar(register) => {
                self.cached(Key::Vector(value), |lower| WaveRegs::one(lower.broadcast(register)))
            }
            ValueLocation::Memory(memory) => {
                self.cached(Key::Vector(value), |lower| WaveRegs::one(lower.load_broadcast(memory)))
            }
            ValueLocation::Mask(mask) => self.cached(Key::Vector(value), |lower| lower.mask_to_words(mask)),
            ValueLocation::Half { of, high } => self.cached(Key::Vector(value), |lower| lower.half(of, high)),
            // A comparison whose location is the flags has no other use.
            ValueLocation::Nowhere | ValueLocation::Flags(..) => {
                self.cached(Key::Constant(0), |lower| lower.broadcast_constant(0))
            }
        }
    }

    /// Returns a value as the last source of a vector instruction.
    pub(super) fn source(&mut self, value: Value) -> Source {
        match self.values[value.0 as usize] {
            ValueLocation::Constant(word) => Source::Constant(word),
            ValueLocation::Memory(memory) if self.is_memory(value) => Source::Memory(memory.broadcast()),
            _ => Source::WaveRegs(self.vector(value)),
        }
    }

    /// Returns a uniform value in a general register.
    pub(super) fn scalar(&mut self, value: Value) -> VReg {
        match self.values[value.0 as usize] {
            ValueLocation::Scalar(register) => register,
            ValueLocation::Memory(memory) => {
                let load = |lower: &mut Self| lower.define(SCALAR, Code::Mov_r32_rm32, &[Operand::Mem(memory)]);
                self.cached(Key::Scalar(value), |lower| WaveRegs::one(load(lower))).at(0)
            }
            ValueLocation::Constant(word) => {
                let make = |lower: &mut Self| WaveRegs::one(lower.scalar_constant(word));
                self.cached(Key::ScalarConstant(word), make).at(0)
            }
            ValueLocation::Vector(_) | ValueLocation::Half { .. } => {
                let parts = self.vector(value);
                let make = |lower: &mut Self| WaveRegs::one(lower.first_lane(parts.at(0)));
                self.cached(Key::Scalar(value), make).at(0)
            }
            ValueLocation::Mask(mask) => {
                let make = |lower: &mut Self| WaveRegs::one(lower.mask_to_scalar(mask));
                self.cached(Key::Scalar(value), make).at(0)
            }
            ValueLocation::Nowhere | ValueLocation::Flags(..) => self.scalar_constant(0),
        }
    }

    /// Returns a boolean as a mask.
    pub(super) fn mask(&mut self, value: Value) -> WaveRegs {
        match self.values[value.0 as usize] {
            ValueLocation::Mask(parts) => parts,
            ValueLocation::Vector(_) | ValueLocation::Half { .. } => {
                let parts = self.vector(value);
                self.cached(Key::Mask(value), |lower| lower.words_to_mask(parts))
            }
            ValueLocation::Scalar(register) => self.cached(Key::Mask(value), |lower| lower.scalar_to_mask(register)),
            ValueLocation::Memory(_) => {
                let register = self.scalar(value);
                self.cached(Key::Mask(value), |lower| lower.scalar_to_mask(register))
            }
            ValueLocation::Constant(word) => self.cached(Key::Mask(value), |lower| lower.constant_mask(word != 0)),
            ValueLocation::Nowhere | ValueLocation::Flags(..) => self.constant_mask(false),
        }
    }

    /// Returns a value in `form`.
    pub(super) fn in_form(&mut self, value: Value, form: Form) -> WaveRegs {
        match form {
            Form::Scalar => WaveRegs::one(self.scalar(value)),
            Form::Vector => self.vector(value),
            Form::Mask => self.mask(value),
        }
    }

    pub(super) fn scalar_constant(&mut self, word: u32) -> VReg {
        self.define(SCALAR, Code::Mov_r32_imm32, &[Operand::Imm(word as i32)])
    }

    pub(super) fn first_lane(&mut self, vector: VReg) -> VReg {
        let code = match self.target {
            Target::Avx512 => Code::EVEX_Vmovd_rm32_xmm,
            Target::Avx2 => Code::VEX_Vmovd_rm32_xmm,
        };
        self.define(SCALAR, code, &[Operand::Use(vector)])
    }

    /// Broadcasts a general register to all lanes.
    pub(super) fn broadcast(&mut self, register: VReg) -> VReg {
        match self.target {
            Target::Avx512 => self.define(VECTOR, Code::EVEX_Vpbroadcastd_zmm_k1z_r32, &[Operand::Use(register)]),
            Target::Avx2 => {
                let low = self.define(VECTOR, Code::VEX_Vmovd_xmm_rm32, &[Operand::Use(register)]);
                self.define(VECTOR, Code::VEX_Vpbroadcastd_ymm_xmmm32, &[Operand::Use(low)])
            }
        }
    }

    /// Returns 1 in the lanes of a mask and 0 in the others.
    fn mask_to_words(&mut self, mask: WaveRegs) -> WaveRegs {
        match self.target {
            Target::Avx512 => {
                let at = self.pooled(1u32.to_le_bytes().to_vec());
                let result = self.vector_register();
                let operands = [Operand::Def(result), Operand::Mem(Mem::pool(at, false))];
                self.masked(Code::EVEX_Vpbroadcastd_zmm_k1z_xmmm32, &operands, mask.at(0), true);
                WaveRegs::one(result)
            }
            Target::Avx2 => self.vector2(V::And, mask, Source::Constant(1)),
        }
    }

    pub(super) fn words_to_mask(&mut self, words: WaveRegs) -> WaveRegs {
        match self.target {
            Target::Avx512 => {
                let operands = [Operand::Use(words.at(0)), Operand::Use(words.at(0))];
                WaveRegs::one(self.define(MASK, Code::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32, &operands))
            }
            Target::Avx2 => self.compare(Compare::Signed(Order::NotEqual), words, Source::Constant(0)),
        }
    }

    /// Returns 1 if the first lane is in a mask, otherwise 0.
    fn mask_to_scalar(&mut self, mask: WaveRegs) -> VReg {
        let word = match self.target {
            Target::Avx512 => self.define(SCALAR, Code::VEX_Kmovw_r32_kr, &[Operand::Use(mask.at(0))]),
            Target::Avx2 => self.first_lane(mask.at(0)),
        };
        self.change(Code::And_rm32_imm8, word, &[Operand::Imm(1)])
    }

    fn scalar_to_mask(&mut self, register: VReg) -> WaveRegs {
        let ones = self.change(Code::Neg_rm32, register, &[]);
        match self.target {
            Target::Avx512 => WaveRegs::one(self.define(MASK, Code::VEX_Kmovw_kr_r32, &[Operand::Use(ones)])),
            Target::Avx2 => WaveRegs::one(self.broadcast(ones)),
        }
    }

    /// Returns a mask of all lanes or of no lane.
    pub(super) fn constant_mask(&mut self, all: bool) -> WaveRegs {
        let word = if all { u32::MAX } else { 0 };
        match self.target {
            Target::Avx512 => {
                let register = self.scalar_constant(word);
                WaveRegs::one(self.define(MASK, Code::VEX_Kmovw_kr_r32, &[Operand::Use(register)]))
            }
            Target::Avx2 => self.broadcast_constant(word),
        }
    }

    /// Appends an instruction on general registers whose first operand is read and written.
    pub(super) fn change(&mut self, code: Code, from: VReg, sources: &[Operand]) -> VReg {
        let to = self.scalar_register();
        let mut operands = vec![Operand::Change { from, to }];
        operands.extend_from_slice(sources);
        self.plain(code, &operands);
        to
    }
}
