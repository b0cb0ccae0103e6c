//! Operations across lanes, and the demotion of lanes to helpers.

use iced_x86::Code;
use vitric_ir::{Inst, Value};

use super::super::machine::{Mem, Operand, VECTOR};
use super::super::table::Shift;
use super::{Lower, ValueLocation, WaveRegs};
use crate::Target;
use crate::frame::Frame;

impl Lower<'_> {
    pub(super) fn cross_lane(&mut self, inst: &Inst) {
        match inst {
            Inst::Lane { result } => {
                let parts = self.numbers_of_lanes();
                self.set_location(*result, ValueLocation::Vector(parts));
            }
            Inst::IsActive { result } => {
                let active = self.active_mask();
                self.set_location(*result, ValueLocation::Mask(active));
            }
            Inst::Ballot { result, a } => {
                let mask = self.mask(*a);
                let bits = self.mask_bits(mask);
                self.set_location(*result, ValueLocation::Scalar(bits));
            }
            Inst::Shuffle { result, a, index } => self.shuffle(*result, *a, *index),
            _ => {}
        }
    }

    pub(super) fn numbers_of_lanes(&mut self) -> WaveRegs {
        let lanes: Vec<u8> = (0..16u32).flat_map(u32::to_le_bytes).collect();
        let at = self.pooled(lanes);
        self.load_lanes(Mem::pool(at, false), self.target.parts())
    }

    fn shuffle(&mut self, result: Value, a: Value, index: Value) {
        let words = self.vector(a);
        if self.target == Target::Avx2 && words.count == 1 {
            return self.set_location(result, ValueLocation::Vector(words));
        }
        self.pick(result, [0, 1].map(|half| Operand::Use(words.at(half))), index);
    }

    /// Selects one of 16 dwords per lane by the low four bits of `index`. `words` are one register
    /// with AVX-512 and two halves with AVX2.
    pub(super) fn pick(&mut self, result: Value, words: [Operand; 2], index: Value) {
        let index = self.vector(index);
        let parts = match self.target {
            Target::Avx512 => {
                let sources = [Operand::Use(index.at(0)), words[0]];
                WaveRegs::one(self.define(VECTOR, Code::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32, &sources))
            }
            Target::Avx2 => {
                // The instruction selects from one half by three bits. The fourth bit, shifted to
                // the sign bit, selects the half.
                let half = self.shift(Shift::Left, index, 28);
                self.parts(index.count, |lower, part| {
                    let [low, high] = words.map(|words| {
                        let sources = [Operand::Use(index.at(part)), words];
                        lower.define(VECTOR, Code::VEX_Vpermd_ymm_ymm_ymmm256, &sources)
                    });
                    let sources = [low, high, half.at(part)].map(Operand::Use);
                    lower.define(VECTOR, Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm, &sources)
                })
            }
        };
        self.set_location(result, ValueLocation::Vector(parts));
    }

    /// Demotes the active lanes: they continue without side effects and count as killed.
    pub(super) fn demote(&mut self) {
        let active = self.active_mask();
        let bits = self.mask_bits(active);
        self.plain(Code::Or_rm16_r16, &[Operand::Mem(Mem::frame(Frame::KILLED)), Operand::Use(bits)]);
        let others = self.change(Code::Not_rm32, bits, &[]);
        self.plain(Code::And_rm16_r16, &[Operand::Mem(Mem::frame(Frame::REAL)), Operand::Use(others)]);
        if self.target == Target::Avx2 {
            let real = self.start_mask(Frame::REAL, Frame::REAL_LANES);
            let real = self.mask_and_not(active, real);
            for part in 0..2 {
                let memory = Operand::Mem(Mem::frame(Frame::REAL_LANES + part * 32));
                self.plain(Code::VEX_Vmovups_ymmm256_ymm, &[memory, Operand::Use(real.at(part))]);
            }
        }
    }
}
