//! Helpers that append machine instructions.

use iced_x86::Code;
use regalloc2::{RegClass, VReg};
use smallvec::SmallVec;

use super::super::machine::{MASK, MachineInst, Masking, Mem, Operand, SCALAR, VECTOR};
use super::super::table::{Shift, V};
use super::{Lower, WaveRegs};
use crate::Target;

/// Source operand that may be memory.
#[derive(Debug, Clone, Copy)]
pub enum Source {
    /// Registers.
    WaveRegs(WaveRegs),
    /// A constant dword for all lanes.
    Constant(u32),
    /// A dword in memory for all lanes (AVX-512 only).
    Memory(Mem),
}

impl Source {
    /// Returns the number of registers of the source, or 1 for other sources.
    fn count(self) -> usize {
        if let Self::WaveRegs(parts) = self { parts.count } else { 1 }
    }
}

impl From<WaveRegs> for Source {
    fn from(parts: WaveRegs) -> Self {
        Self::WaveRegs(parts)
    }
}

impl Lower<'_> {
    pub(super) fn push(&mut self, kind: MachineInst) {
        if let Some(block) = self.block {
            self.out.blocks[block.index()].insts.push(kind);
        }
    }

    pub(super) fn plain(&mut self, code: Code, operands: &[Operand]) {
        self.push(MachineInst::Plain { code, operands: SmallVec::from_slice(operands), mask: None });
    }

    pub(super) fn masked(&mut self, code: Code, operands: &[Operand], register: VReg, zeroing: bool) {
        let mask = Some(Masking { register: Operand::Use(register), zeroing });
        self.push(MachineInst::Plain { code, operands: SmallVec::from_slice(operands), mask });
    }

    pub(super) fn scalar_register(&mut self) -> VReg {
        self.out.register(SCALAR)
    }

    pub(super) fn vector_register(&mut self) -> VReg {
        self.out.register(VECTOR)
    }

    /// Returns the class of the registers of masks.
    pub(super) fn mask_class(&self) -> RegClass {
        match self.target {
            Target::Avx512 => MASK,
            Target::Avx2 => VECTOR,
        }
    }

    /// Appends an instruction whose first operand is a new register that it writes. Returns the
    /// register.
    pub(super) fn define(&mut self, class: RegClass, code: Code, sources: &[Operand]) -> VReg {
        let result = self.out.register(class);
        let mut operands: SmallVec<[Operand; 4]> = SmallVec::new();
        operands.push(Operand::Def(result));
        operands.extend_from_slice(sources);
        self.push(MachineInst::Plain { code, operands, mask: None });
        result
    }

    /// Adds bytes to the constant pool, unless it has them, and returns their offset.
    pub(super) fn pooled(&mut self, bytes: Vec<u8>) -> u32 {
        let pool = &mut self.out.pool;
        *self.pool.entry(bytes).or_insert_with_key(|bytes| {
            let aligned = pool.len().next_multiple_of(bytes.len().min(64).next_power_of_two());
            pool.resize(aligned, 0);
            pool.extend_from_slice(bytes);
            aligned as u32
        })
    }

    /// Returns a constant for all lanes as a memory operand of a vector instruction.
    pub(super) fn constant_operand(&mut self, word: u32) -> Mem {
        match self.target {
            Target::Avx512 => {
                let at = self.pooled(word.to_le_bytes().to_vec());
                Mem::pool(at, true)
            }
            Target::Avx2 => {
                let at = self.pooled(word.to_le_bytes().repeat(8));
                Mem::pool(at, false)
            }
        }
    }

    pub(super) fn source_operand(&mut self, source: Source, part: usize) -> Operand {
        match source {
            Source::WaveRegs(parts) => Operand::Use(parts.at(part)),
            Source::Constant(word) => Operand::Mem(self.constant_operand(word)),
            Source::Memory(memory) => Operand::Mem(memory),
        }
    }

    /// Builds a value of `count` registers, one after the other.
    pub(super) fn parts(&mut self, count: usize, mut part: impl FnMut(&mut Self, usize) -> VReg) -> WaveRegs {
        let registers: SmallVec<[VReg; 2]> = (0..count).map(|index| part(self, index)).collect();
        WaveRegs::new(&registers)
    }

    /// Appends `op(a, b)` on vectors.
    pub(super) fn vector2(&mut self, op: V, a: WaveRegs, b: impl Into<Source>) -> WaveRegs {
        let b = b.into();
        let code = op.code(self.target);
        self.parts(a.count.max(b.count()), |lower, part| {
            let source = lower.source_operand(b, part);
            lower.define(VECTOR, code, &[Operand::Use(a.at(part)), source])
        })
    }

    /// Appends `op(a)` on vectors.
    pub(super) fn vector1(&mut self, code: Code, a: WaveRegs) -> WaveRegs {
        self.parts(a.count, |lower, part| lower.define(VECTOR, code, &[Operand::Use(a.at(part))]))
    }

    /// Appends `op(a)` with an immediate.
    pub(super) fn vector_immediate(&mut self, code: Code, a: WaveRegs, immediate: i32) -> WaveRegs {
        self.parts(a.count, |lower, part| {
            lower.define(VECTOR, code, &[Operand::Use(a.at(part)), Operand::Imm(immediate)])
        })
    }

    /// Appends a shift of all lanes by a constant number of bits.
    pub(super) fn shift(&mut self, shift: Shift, a: WaveRegs, count: u32) -> WaveRegs {
        self.vector_immediate(shift.code(self.target), a, count as i32)
    }

    /// Appends `op(a, b, c)`, whose first operand is read and written.
    pub(super) fn fused(&mut self, op: V, first: WaveRegs, second: WaveRegs, third: Source) -> WaveRegs {
        let code = op.code(self.target);
        let count = first.count.max(second.count).max(third.count());
        self.parts(count, |lower, part| {
            let to = lower.vector_register();
            let third = lower.source_operand(third, part);
            let change = Operand::Change { from: first.at(part), to };
            lower.plain(code, &[change, Operand::Use(second.at(part)), third]);
            to
        })
    }

    /// Loads a dword and broadcasts it to all lanes of one register, which serves both halves.
    pub(super) fn load_broadcast(&mut self, memory: Mem) -> VReg {
        let code = match self.target {
            Target::Avx512 => Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32,
            Target::Avx2 => Code::VEX_Vbroadcastss_ymm_m32,
        };
        self.define(VECTOR, code, &[Operand::Mem(memory)])
    }

    /// Returns a constant in all lanes of one register, which serves both halves.
    pub(super) fn broadcast_constant(&mut self, word: u32) -> WaveRegs {
        if word == 0 {
            return self.zero_vector();
        }
        let register = match self.target {
            Target::Avx512 => {
                let at = self.pooled(word.to_le_bytes().to_vec());
                let memory = Operand::Mem(Mem::pool(at, false));
                self.define(VECTOR, Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32, &[memory])
            }
            Target::Avx2 => {
                let memory = Operand::Mem(self.constant_operand(word));
                self.define(VECTOR, Code::VEX_Vmovups_ymm_ymmm256, &[memory])
            }
        };
        WaveRegs::one(register)
    }

    pub(super) fn zero_vector(&mut self) -> WaveRegs {
        // `xor a, a` would read a register that is not defined, which the allocator rejects. Load
        // zeros instead.
        let memory = Operand::Mem(self.constant_memory_zero());
        let code = match self.target {
            Target::Avx512 => Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32,
            Target::Avx2 => Code::VEX_Vmovups_ymm_ymmm256,
        };
        WaveRegs::one(self.define(VECTOR, code, &[memory]))
    }

    fn constant_memory_zero(&mut self) -> Mem {
        match self.target {
            Target::Avx512 => {
                let at = self.pooled(vec![0; 4]);
                Mem::pool(at, false)
            }
            Target::Avx2 => self.constant_operand(0),
        }
    }
}
