//! Integer division by means of double-precision division.
//!
//! The double-precision quotient of 32-bit integers has a relative error of at most 2^-53. A
//! quotient that is not an integer differs from the next integer by at least 1/b. Truncating the
//! rounded quotient therefore equals truncating the exact one.
//!
//! Unsigned quotients and all remainders by zero have all bits set. A signed quotient by zero is
//! 0. `i32::MIN / -1` overflows to `i32::MIN`, like the conversion.

use iced_x86::Code;
use regalloc2::VReg;
use vitric_ir::BinaryOp;

use super::super::machine::{Mem, Operand, VECTOR};
use super::super::table::{Compare, Order, V};
use super::emit::Source;
use super::{Lower, WaveRegs};
use crate::Target;

const SIGN: u32 = 0x8000_0000;
/// 2^31 in double precision.
const TWO_TO_31: u64 = 0x41e0_0000_0000_0000;

impl Lower<'_> {
    /// Appends `op(a, b)` for a division or remainder. `may_be_zero` is false if no lane has a
    /// divisor of 0, and the code for that case is omitted.
    pub(super) fn divide(&mut self, op: BinaryOp, (a, b): (WaveRegs, WaveRegs), may_be_zero: bool) -> WaveRegs {
        let signed = matches!(op, BinaryOp::SDiv | BinaryOp::SRem);
        let count = a.count.max(b.count);
        let quotient = self.parts(count, |lower, part| lower.quotient(signed, a.at(part), b.at(part)));
        let result = if matches!(op, BinaryOp::SRem | BinaryOp::UMod) {
            let multiple = self.vector2(V::MulI, quotient, b);
            self.vector2(V::SubI, a, multiple)
        } else {
            quotient
        };
        match (op, self.target) {
            _ if !may_be_zero => result,
            (BinaryOp::SDiv, _) => {
                let nonzero = self.compare(Compare::Signed(Order::NotEqual), b, Source::Constant(0));
                self.keep(nonzero, result)
            }
            // The conversion of infinity or NaN to unsigned integers has already set all bits.
            (BinaryOp::UDiv, Target::Avx512) => result,
            (_, target) => {
                let zero = self.compare(Compare::Signed(Order::Equal), b, Source::Constant(0));
                match target {
                    Target::Avx512 => self.blend(zero, result, Source::Constant(u32::MAX)),
                    Target::Avx2 => self.vector2(V::Or, result, zero),
                }
            }
        }
    }

    /// Returns the quotients of one register. Each half is divided in double precision.
    fn quotient(&mut self, signed: bool, a: VReg, b: VReg) -> VReg {
        let halves = [0, 1].map(|half| {
            let (a, b) = (self.half_to_doubles(signed, a, half), self.half_to_doubles(signed, b, half));
            let quotient = self.define(VECTOR, V::DivD.code(self.target), &[Operand::Use(a), Operand::Use(b)]);
            self.doubles_to_half(signed, quotient)
        });
        let code = match self.target {
            Target::Avx512 => Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8,
            Target::Avx2 => Code::VEX_Vinserti128_ymm_ymm_xmmm128_imm8,
        };
        let joined = self.define(VECTOR, code, &[Operand::Use(halves[0]), Operand::Use(halves[1]), Operand::Imm(1)]);
        match (self.target, signed) {
            // Remove the bias that made the unsigned quotient a signed number for the conversion.
            (Target::Avx2, false) => self.vector2(V::Xor, WaveRegs::one(joined), Source::Constant(SIGN)).at(0),
            _ => joined,
        }
    }

    fn half_to_doubles(&mut self, signed: bool, words: VReg, half: i32) -> VReg {
        let biased = self.target == Target::Avx2 && !signed;
        let words = match biased {
            true => self.vector2(V::Xor, WaveRegs::one(words), Source::Constant(SIGN)).at(0),
            false => words,
        };
        let (extract, convert) = match (self.target, signed) {
            (Target::Avx512, true) => {
                (Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8, Code::EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er)
            }
            (Target::Avx512, false) => {
                (Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8, Code::EVEX_Vcvtudq2pd_zmm_k1z_ymmm256b32_er)
            }
            (Target::Avx2, _) => (Code::VEX_Vextracti128_xmmm128_ymm_imm8, Code::VEX_Vcvtdq2pd_ymm_xmmm128),
        };
        let words = match half {
            0 => words,
            _ => self.define(VECTOR, extract, &[Operand::Use(words), Operand::Imm(half)]),
        };
        let doubles = self.define(VECTOR, convert, &[Operand::Use(words)]);
        if !biased {
            return doubles;
        }
        let bias = self.two_to_31();
        self.define(VECTOR, Code::VEX_Vaddpd_ymm_ymm_ymmm256, &[Operand::Use(doubles), bias])
    }

    fn doubles_to_half(&mut self, signed: bool, doubles: VReg) -> VReg {
        let code = match (self.target, signed) {
            (Target::Avx512, true) => Code::EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae,
            (Target::Avx512, false) => Code::EVEX_Vcvttpd2udq_ymm_k1z_zmmm512b64_sae,
            (Target::Avx2, _) => Code::VEX_Vcvttpd2dq_xmm_ymmm256,
        };
        if self.target == Target::Avx512 || signed {
            return self.define(VECTOR, code, &[Operand::Use(doubles)]);
        }
        // Truncation comes first, because subtracting the bias could change the direction of
        // rounding.
        let truncated = [Operand::Use(doubles), Operand::Imm(3 | 8)];
        let whole = self.define(VECTOR, Code::VEX_Vroundpd_ymm_ymmm256_imm8, &truncated);
        let bias = self.two_to_31();
        let less = self.define(VECTOR, Code::VEX_Vsubpd_ymm_ymm_ymmm256, &[Operand::Use(whole), bias]);
        self.define(VECTOR, code, &[Operand::Use(less)])
    }

    fn two_to_31(&mut self) -> Operand {
        let at = self.pooled(TWO_TO_31.to_le_bytes().repeat(4));
        Operand::Mem(Mem::pool(at, false))
    }
}
