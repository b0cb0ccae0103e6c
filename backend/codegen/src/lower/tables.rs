//! Loads of table entries.
//!
//! With divergent indices, entries of small tables are selected from registers. On AVX-512 this
//! works for up to 256 dwords, with permutations of 32 dwords each. They need half the time of 16
//! scattered loads and do not wait for memory. Tables with at most one dword per lane of a wave
//! are permuted on both targets.

use iced_x86::Code;
use regalloc2::VReg;
use vitric_base::simd::WAVE;
use vitric_ir::{BinaryOp, Inst, Table, Value};

use super::super::machine::{MASK, Mem, Operand, SCALAR, VECTOR};
use super::super::table::{Compare, Order, Shift};
use super::emit::Source;
use super::memory::LANE_BYTES;
use super::{Lower, Result, ValueLocation, WaveRegs};
use crate::Target;
use crate::frame::Frame;

/// Number of dwords in two registers, from which one instruction selects.
const PAIR: usize = 32;

/// Maximum number of dwords of a table whose entries are selected from registers.
const MAX_PICKED: usize = 256;

/// Number of instructions to search backwards for the definition of an index.
const MAX_SEARCHED: usize = 16;

impl Lower<'_> {
    /// Loads a table entry per lane. Lanes whose index is out of bounds get 0.
    pub(super) fn load_table(&mut self, result: Value, table: Table, index: Value) -> Result<()> {
        let words = self.ir.tables[table.0 as usize].clone();
        if words.is_empty() {
            self.set_location(result, ValueLocation::Constant(0));
            return Ok(());
        }
        if self.is_uniform(index) {
            self.load_uniform_entry(result, &words, index);
            return Ok(());
        }
        let parts = match self.target {
            _ if words.len() <= WAVE => self.permuted(&words, index),
            Target::Avx512 if words.len() <= MAX_PICKED => self.picked(&words, index),
            _ => {
                let (base, index) = (self.table(&words), self.vector(index));
                let inside = self.compare(Compare::Unsigned(Order::Less), index, Source::Constant(words.len() as u32));
                let offsets = self.shift(Shift::Left, index, LANE_BYTES.ilog2());
                self.gather(base, offsets, inside)
            }
        };
        self.set_location(result, ValueLocation::Vector(parts));
        Ok(())
    }

    /// Returns the address of a table.
    fn table(&mut self, words: &[u32]) -> VReg {
        let at = self.pooled(bytes_of(words));
        self.define(SCALAR, Code::Lea_r64_m, &[Operand::Mem(Mem::pool(at, false))])
    }

    fn load_uniform_entry(&mut self, result: Value, words: &[u32], index: Value) {
        let (base, index) = (self.table(words), self.scalar(index));
        let memory = Operand::Mem(Mem::at(base, 0).indexed(index, LANE_BYTES));
        let inside = self.define(SCALAR, Code::Lea_r64_m, &[memory]);
        let zero = self.define(SCALAR, Code::Lea_r64_m, &[Operand::Mem(Mem::frame(Frame::ZERO))]);
        self.plain(Code::Cmp_rm32_imm32, &[Operand::Use(index), Operand::Imm(words.len() as i32)]);
        let address = self.change(Code::Cmovae_r64_rm64, inside, &[Operand::Use(zero)]);
        self.load_uniform(result, Mem::at(address, 0));
    }

    /// Selects entries of a table with at most one dword per lane of a wave. An AVX2 register has
    /// half of them, and bit 3 of the index selects the register.
    fn permuted(&mut self, words: &[u32], index: Value) -> WaveRegs {
        let (mut padded, lanes) = (words.to_vec(), WAVE / self.target.parts());
        padded.resize(words.len().next_multiple_of(lanes), 0);
        let (is_inside, count) = (self.is_below(index, padded.len() as u32), padded.len());
        let (at, index) = (self.pooled(bytes_of(&padded)), self.vector(index));
        let code = match self.target {
            Target::Avx512 => Code::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32,
            Target::Avx2 => Code::VEX_Vpermd_ymm_ymm_ymmm256,
        };
        let permuted: Vec<WaveRegs> = (0..count / lanes)
            .map(|register| {
                let table = Operand::Mem(Mem::pool(at + (register * lanes) as u32 * LANE_BYTES, false));
                self.parts(index.count, |lower, part| {
                    lower.define(VECTOR, code, &[Operand::Use(index.at(part)), table])
                })
            })
            .collect();
        let words = match permuted[..] {
            [low, high] => {
                // A blend selects by the sign bit.
                let upper = self.shift(Shift::Left, index, u32::BITS - 1 - lanes.ilog2());
                self.blend(upper, low, high.into())
            }
            _ => permuted[0],
        };
        if is_inside {
            return words;
        }
        let inside = self.compare(Compare::Unsigned(Order::Less), index, Source::Constant(count as u32));
        self.keep(inside, words)
    }

    /// Selects one entry from each 32 dwords of the table by the low bits of `index`, then one of
    /// the results by the upper bits.
    fn picked(&mut self, words: &[u32], index: Value) -> WaveRegs {
        let mut padded = words.to_vec();
        padded.resize(words.len().next_power_of_two().max(PAIR), 0);
        let is_inside = self.is_below(index, padded.len() as u32);
        let (at, index) = (self.pooled(bytes_of(&padded)), self.vector(index));
        let register = |number: usize| Operand::Mem(Mem::pool(at + number as u32 * Self::REGISTER_BYTES, false));
        let mut picked: Vec<WaveRegs> = (0..padded.len() / PAIR)
            .map(|pair| {
                let from = self.define(VECTOR, Code::EVEX_Vmovups_zmm_k1z_zmmm512, &[register(pair * 2)]);
                let to = self.vector_register();
                let operands = [Operand::Change { from, to }, Operand::Use(index.at(0)), register(pair * 2 + 1)];
                self.plain(Code::EVEX_Vpermt2d_zmm_k1z_zmm_zmmm512b32, &operands);
                WaveRegs::one(to)
            })
            .collect();
        let mut bit = PAIR as u32;
        while picked.len() > 1 {
            let operands = [Operand::Use(index.at(0)), Operand::Mem(self.constant_operand(bit))];
            let upper = WaveRegs::one(self.define(MASK, Code::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32, &operands));
            picked = picked.chunks(2).map(|pair| self.blend(upper, pair[0], pair[1].into())).collect();
            bit *= 2;
        }
        if is_inside {
            return picked[0];
        }
        let inside = self.compare(Compare::Unsigned(Order::Less), index, Source::Constant(padded.len() as u32));
        self.keep(inside, picked[0])
    }

    /// Size of a vector register that contains a whole wave, in bytes.
    const REGISTER_BYTES: u32 = 64;

    /// Returns true if the definition of an index proves that it is less than `limit`. The
    /// definition must be a mask or a shift right.
    fn is_below(&self, index: Value, limit: u32) -> bool {
        let before = self.ir.insts[..self.at].iter().rev().take(MAX_SEARCHED);
        let mut made = before.filter_map(|inst| match *inst {
            Inst::Binary { result, op, a, b } if result == index => Some((op, [a, b])),
            _ => None,
        });
        match made.next() {
            Some((BinaryOp::And, operands)) => {
                operands.iter().any(|&operand| self.constant(operand).is_some_and(|word| word < limit))
            }
            Some((BinaryOp::ShrLogical, [_, bits])) => {
                self.constant(bits).is_some_and(|bits| bits < u32::BITS && u32::MAX >> bits < limit)
            }
            _ => false,
        }
    }
}

fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
