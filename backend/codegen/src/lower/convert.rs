//! Conversions between the forms of a value. What was converted once is used again in the same region.

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

/// Whose resources and push constants are meant: those of what was looked up for an image instruction, or the program's own.
pub(super) type Of = Option<u32>;

/// What a conversion gave.
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
    /// The entry of a resource's first buffer.
    Entry(Of, u32),
    /// That buffer's first byte.
    Base(Of, u32),
    /// The address of the inputs.
    Inputs,
    /// The address of the parameters.
    Parameters,
    /// The address of the push constants.
    Push(Of),
    /// The lanes of a mask whose effects count.
    Effective(VReg),
    /// Numbers of a low and a high word: those of a half of the lanes.
    Whole([Value; 2], usize),
    /// The word of a quad of lanes' first one, of a register, by its number there.
    QuadOffset(VReg, i32),
}

/// Conversions that hold where lowering is, and the order in which they were made.
#[derive(Debug, Default)]
pub struct Cache {
    known: HashMap<Key, WaveRegs>,
    made: Vec<Key>,
}

impl Cache {
    /// A mark to come back to when a region ends.
    pub fn mark(&self) -> usize {
        self.made.len()
    }

    /// Forgets what was made since a mark: it does not dominate what follows.
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

    /// A constant's word.
    pub(super) fn constant(&self, value: Value) -> Option<u32> {
        match self.values[value.0 as usize] {
            ValueLocation::Constant(word) => Some(word),
            _ => None,
        }
    }

    /// Whether a value is best the last source of a vector instruction, which may lie in memory.
    pub(super) fn is_memory(&self, value: Value) -> bool {
        match self.values[value.0 as usize] {
            ValueLocation::Constant(_) => true,
            ValueLocation::Memory(_) => {
                self.target == Target::Avx512 && !self.converted.known.contains_key(&Key::Vector(value))
            }
            _ => false,
        }
    }

    /// A value in vectors.
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
            // A comparison that is held as flags has no other use.
            ValueLocation::Nowhere | ValueLocation::Flags(..) => {
                self.cached(Key::Constant(0), |lower| lower.broadcast_constant(0))
            }
        }
    }

    /// A value as the last source of a vector instruction.
    pub(super) fn source(&mut self, value: Value) -> Source {
        match self.values[value.0 as usize] {
            ValueLocation::Constant(word) => Source::Constant(word),
            ValueLocation::Memory(memory) if self.is_memory(value) => Source::Memory(memory.broadcast()),
            _ => Source::WaveRegs(self.vector(value)),
        }
    }

    /// A value in a general register. Only for uniform values.
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

    /// A boolean as a mask.
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

    /// A value in a form of variables.
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

    /// A general register in every lane.
    pub(super) fn broadcast(&mut self, register: VReg) -> VReg {
        match self.target {
            Target::Avx512 => self.define(VECTOR, Code::EVEX_Vpbroadcastd_zmm_k1z_r32, &[Operand::Use(register)]),
            Target::Avx2 => {
                let low = self.define(VECTOR, Code::VEX_Vmovd_xmm_rm32, &[Operand::Use(register)]);
                self.define(VECTOR, Code::VEX_Vpbroadcastd_ymm_xmmm32, &[Operand::Use(low)])
            }
        }
    }

    /// 1 in the lanes of a mask, 0 in the others.
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

    /// 1 when the first lane is in a mask.
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

    /// A mask of all lanes or of none.
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

    /// Appends an instruction of general registers whose first operand is read and written.
    pub(super) fn change(&mut self, code: Code, from: VReg, sources: &[Operand]) -> VReg {
        let to = self.scalar_register();
        let mut operands = vec![Operand::Change { from, to }];
        operands.extend_from_slice(sources);
        self.plain(code, &operands);
        to
    }
}
