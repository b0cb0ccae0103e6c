//! Denormal floats that become zeros of equal sign.

use iced_x86::Code;
use vitric_ir::LEAST_SINGLE;

use super::super::machine::{MASK, Mem, Operand, VECTOR};
use super::super::table::{Compare, Order, Shift, V};
use super::emit::Source;
use super::{Lower, WaveRegs};
use crate::Target;

const SIGN: u32 = 0x8000_0000;
const SIGN_OF_DOUBLE: u64 = 1 << 63;
/// Exponent bits of a single-precision float.
const EXPONENT: u32 = 0x7f80_0000;
/// Exponent bits of a double.
const EXPONENT_OF_DOUBLE: u64 = 0x7ff0_0000_0000_0000;

impl Lower<'_> {
    /// Returns zeros of equal sign for floats whose magnitude is less than that with bits `least`.
    pub(super) fn flush(&mut self, a: WaveRegs, least: u32) -> WaveRegs {
        if self.target == Target::Avx512 && least == LEAST_SINGLE {
            let exponent = self.source_operand(Source::Constant(EXPONENT), 0);
            let sources = [Operand::Use(a.at(0)), exponent];
            let small = self.define(MASK, Code::EVEX_Vptestnmd_kr_k1_zmm_zmmm512b32, &sources);
            return self.keep_signs(a, WaveRegs::one(small));
        }
        let size = self.vector2(V::And, a, Source::Constant(!SIGN));
        let small = self.compare(Compare::Signed(Order::Less), size, Source::Constant(least));
        match self.target {
            Target::Avx512 => self.keep_signs(a, small),
            Target::Avx2 => {
                let cleared = self.shift(Shift::Right, small, 1);
                self.vector2(V::AndNot, cleared, a)
            }
        }
    }

    /// Clears all bits but the sign in the lanes of a mask (AVX-512 only).
    fn keep_signs(&mut self, a: WaveRegs, mask: WaveRegs) -> WaveRegs {
        let sign = self.source_operand(Source::Constant(SIGN), 0);
        let to = self.vector_register();
        let operands = [Operand::Change { from: a.at(0), to }, Operand::Use(a.at(0)), sign];
        self.masked(V::And.code(self.target), &operands, mask.at(0), false);
        WaveRegs::one(to)
    }

    /// Returns zeros of equal sign for denormal doubles.
    pub(super) fn flush_double(&mut self, a: WaveRegs) -> WaveRegs {
        match self.target {
            Target::Avx512 => {
                let (exponent, sign) = (self.broadcast64(EXPONENT_OF_DOUBLE), self.broadcast64(SIGN_OF_DOUBLE));
                let sources = [Operand::Use(a.at(0)), exponent];
                let small = self.define(MASK, Code::EVEX_Vptestnmq_kr_k1_zmm_zmmm512b64, &sources);
                let to = self.vector_register();
                let operands = [Operand::Change { from: a.at(0), to }, Operand::Use(a.at(0)), sign];
                self.masked(Code::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64, &operands, small, false);
                WaveRegs::one(to)
            }
            Target::Avx2 => {
                let exponent = Mem::pool(self.pooled(EXPONENT_OF_DOUBLE.to_le_bytes().repeat(4)), false);
                let zero = self.zero_vector();
                let small = self.parts(a.count, |lower, part| {
                    let sources = [Operand::Use(a.at(part)), Operand::Mem(exponent)];
                    let exponents = lower.define(VECTOR, V::And.code(lower.target), &sources);
                    let sources = [Operand::Use(exponents), Operand::Use(zero.at(0))];
                    lower.define(VECTOR, Code::VEX_Vpcmpeqq_ymm_ymm_ymmm256, &sources)
                });
                let cleared = self.shift(Shift::Right64, small, 1);
                self.vector2(V::AndNot, cleared, a)
            }
        }
    }
}
