//! Accesses of memory in which the dwords of a quad's four lanes are adjacent. A wave then needs
//! four 128-bit vectors, or two 256-bit rows where its quads form a block. Both are cheaper than
//! 16 dwords.

use iced_x86::Code;
use regalloc2::VReg;
use vitric_ir::{Space, Value};

use super::super::machine::{MASK, Mem, Operand, SCALAR, VECTOR};
use super::convert::Key;
use super::memory::Range;
use super::{Lower, WaveRegs};
use crate::Target;
use crate::frame::{Frame, LANES_BYTES};

/// Number of quads in a wave.
const QUADS: usize = 4;

/// Size of a quad's dwords in bytes.
const QUAD_BYTES: usize = LANES_BYTES / QUADS;

impl Lower<'_> {
    /// Returns the vector register that contains a quad of a wave, and the quad's index in it.
    fn part_of_quad(&self, quad: usize) -> (usize, i32) {
        let quads = QUADS / self.target.parts();
        (quad / quads, (quad % quads) as i32)
    }

    /// Returns the dwords of a quad in the low 128 bits of a register.
    pub(super) fn quad(&mut self, words: WaveRegs, quad: usize) -> VReg {
        let (part, number) = self.part_of_quad(quad);
        if number == 0 {
            return words.at(part);
        }
        let code = match self.target {
            Target::Avx512 => Code::EVEX_Vextracti32x4_xmmm128_k1z_zmm_imm8,
            Target::Avx2 => Code::VEX_Vextracti128_xmmm128_ymm_imm8,
        };
        self.define(VECTOR, code, &[Operand::Use(words.at(part)), Operand::Imm(number)])
    }

    /// Returns the address of a quad's dwords, and their offset.
    fn quad_address(&mut self, base: VReg, offsets: WaveRegs, quad: usize) -> (VReg, VReg) {
        let (part, number) = self.part_of_quad(quad);
        let make = |lower: &mut Self| {
            let words = lower.quad(offsets, quad);
            WaveRegs::one(lower.first_lane(words))
        };
        let offset = self.cached(Key::QuadOffset(offsets.at(part), number), make).at(0);
        (self.define(SCALAR, Code::Lea_r64_m, &[Operand::Mem(Mem::at(base, 0).indexed(offset, 1))]), offset)
    }

    /// Loads the dwords of all quads. Quads outside the range are zero.
    pub(super) fn load_quads(&mut self, Range { base, limit }: Range, offsets: WaveRegs) -> WaveRegs {
        let zeros = self.pooled(vec![0; QUAD_BYTES]);
        let zeros = self.define(SCALAR, Code::Lea_r64_m, &[Operand::Mem(Mem::pool(zeros, false))]);
        let mut loaded: Option<VReg> = None;
        let mut parts = Vec::new();
        for quad in 0..QUADS {
            let (address, offset) = self.quad_address(base, offsets, quad);
            self.plain(Code::Cmp_r32_rm32, &[Operand::Use(offset), Operand::Mem(limit)]);
            let address = self.change(Code::Cmovae_r64_rm64, address, &[Operand::Use(zeros)]);
            let (memory, number) = (Operand::Mem(Mem::at(address, 0)), self.part_of_quad(quad).1);
            let (first, insert) = match self.target {
                Target::Avx512 => {
                    (Code::EVEX_Vmovups_xmm_k1z_xmmm128, Code::EVEX_Vinserti32x4_zmm_k1z_zmm_xmmm128_imm8)
                }
                Target::Avx2 => (Code::VEX_Vmovups_xmm_xmmm128, Code::VEX_Vinserti128_ymm_ymm_xmmm128_imm8),
            };
            let words = match loaded.filter(|_| number != 0) {
                None => self.define(VECTOR, first, &[memory]),
                Some(before) => self.define(VECTOR, insert, &[Operand::Use(before), memory, Operand::Imm(number)]),
            };
            loaded = Some(words);
            if quad + 1 == QUADS || self.part_of_quad(quad + 1).1 == 0 {
                parts.push(words);
            }
        }
        WaveRegs::new(&parts)
    }

    /// Loads the dwords of a block (`Space::Block`). A block outside the range is zero.
    pub(super) fn load_block(&mut self, Range { base, limit }: Range, offset: Value) -> WaveRegs {
        let offset = self.scalar(offset);
        let zeros = self.pooled(vec![0; Space::BLOCK_ROW as usize + LANES_BYTES / 2]);
        let zeros = self.define(SCALAR, Code::Lea_r64_m, &[Operand::Mem(Mem::pool(zeros, false))]);
        let address = self.define(SCALAR, Code::Lea_r64_m, &[Operand::Mem(Mem::at(base, 0).indexed(offset, 1))]);
        self.plain(Code::Cmp_r32_rm32, &[Operand::Use(offset), Operand::Mem(limit)]);
        let address = self.change(Code::Cmovae_r64_rm64, address, &[Operand::Use(zeros)]);
        let rows = [0, Space::BLOCK_ROW as usize].map(|row| Operand::Mem(Mem::at(address, row)));
        match self.target {
            Target::Avx512 => WaveRegs::one(self.whole_block(rows)),
            Target::Avx2 => WaveRegs::new(&rows.map(|row| self.define(VECTOR, Code::VEX_Vmovups_ymm_ymmm256, &[row]))),
        }
    }

    /// Loads the two rows of a block into one AVX-512 register.
    fn whole_block(&mut self, rows: [Operand; 2]) -> VReg {
        let upper = self.define(VECTOR, Code::EVEX_Vmovups_ymm_k1z_ymmm256, &rows[..1]);
        let code = Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
        self.define(VECTOR, code, &[Operand::Use(upper), rows[1], Operand::Imm(1)])
    }

    /// Stores the lanes of a mask to a block. Like [`Self::store_quads`], it writes the other
    /// dwords back unchanged.
    pub(super) fn store_block(&mut self, base: VReg, offset: Value, (words, lanes): (WaveRegs, WaveRegs)) {
        let offset = self.scalar(offset);
        let address = self.define(SCALAR, Code::Lea_r64_m, &[Operand::Mem(Mem::at(base, 0).indexed(offset, 1))]);
        let rows = [0, Space::BLOCK_ROW as usize].map(|row| Operand::Mem(Mem::at(address, row)));
        match self.target {
            Target::Avx512 => {
                let stored = self.whole_block(rows);
                let all = self.vector_register();
                let operands = [Operand::Def(all), Operand::Use(stored), Operand::Use(words.at(0))];
                self.masked(Code::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32, &operands, lanes.at(0), false);
                self.plain(Code::EVEX_Vmovups_ymmm256_k1z_ymm, &[rows[0], Operand::Use(all)]);
                let below = [rows[1], Operand::Use(all), Operand::Imm(1)];
                self.plain(Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8, &below);
            }
            Target::Avx2 => {
                for (part, row) in rows.into_iter().enumerate() {
                    let stored = self.define(VECTOR, Code::VEX_Vmovups_ymm_ymmm256, &[row]);
                    let sources = [stored, words.at(part), lanes.at(part)].map(Operand::Use);
                    let all = self.define(VECTOR, Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm, &sources);
                    self.plain(Code::VEX_Vmovups_ymmm256_ymm, &[row, Operand::Use(all)]);
                }
            }
        }
    }

    /// Stores the lanes of a mask to memory that no other thread accesses.
    ///
    /// A quad with any lane of the mask is stored as a whole, with the other dwords unchanged. A
    /// later load of the quad can then forward from the store buffer, unlike after a masked store.
    /// Quads without such a lane are stored to the frame instead.
    pub(super) fn store_quads(&mut self, base: VReg, offsets: WaveRegs, (words, lanes): (WaveRegs, WaveRegs)) {
        let bits = self.mask_bits(lanes);
        let kept = match self.target {
            Target::Avx512 => WaveRegs::one(self.define(MASK, Code::VEX_Knotw_kr_kr, &[Operand::Use(lanes.at(0))])),
            Target::Avx2 => lanes,
        };
        let nowhere = self.define(SCALAR, Code::Lea_r64_m, &[Operand::Mem(Mem::frame(Frame::RESULT + LANES_BYTES))]);
        for quad in 0..QUADS {
            let (address, _) = self.quad_address(base, offsets, quad);
            let of_quad = Operand::Imm(((1 << QUADS) - 1) << (QUADS * quad));
            self.plain(Code::Test_rm32_imm32, &[Operand::Use(bits), of_quad]);
            let address = self.change(Code::Cmove_r64_rm64, address, &[Operand::Use(nowhere)]);
            let (memory, words) = (Operand::Mem(Mem::at(address, 0)), self.quad(words, quad));
            match self.target {
                Target::Avx512 => {
                    let shift = [Operand::Use(kept.at(0)), Operand::Imm((QUADS * quad) as i32)];
                    let kept = match quad {
                        0 => kept.at(0),
                        _ => self.define(MASK, Code::VEX_Kshiftrw_kr_kr_imm8, &shift),
                    };
                    let all = self.vector_register();
                    let operands = [Operand::Def(all), Operand::Use(words), memory];
                    self.masked(Code::EVEX_Vpblendmd_xmm_k1z_xmm_xmmm128b32, &operands, kept, false);
                    self.plain(Code::EVEX_Vmovups_xmmm128_k1z_xmm, &[memory, Operand::Use(all)]);
                }
                Target::Avx2 => {
                    let lanes = self.quad(lanes, quad);
                    let stored = self.define(VECTOR, Code::VEX_Vmovups_xmm_xmmm128, &[memory]);
                    let sources = [stored, words, lanes].map(Operand::Use);
                    let words = self.define(VECTOR, Code::VEX_Vblendvps_xmm_xmm_xmmm128_xmm, &sources);
                    self.plain(Code::VEX_Vmovups_xmmm128_xmm, &[memory, Operand::Use(words)]);
                }
            }
        }
    }
}
