//! Division of 64-bit integers with AVX-512, eight per register. With AVX2 the runtime executes
//! it.
//!
//! The algorithm is the one of `kernels::divided`. A first double-precision estimate of the
//! quotient is never too large. A second estimate divides the remainder, and a final step corrects
//! the quotient by at most one.
//!
//! Division by zero returns all ones, except that signed quotients are 0. A constant divisor needs
//! no hardware division, and a uniform divisor needs one instead of two.

use iced_x86::Code;
use regalloc2::VReg;
use vitric_ir::{LESS_THAN_ONE, Wide, WideOp};

use super::super::machine::{MASK, Mem, Operand, VECTOR};
use super::super::table::V;
use super::{Lower, WaveRegs};
use crate::Target;

const TO_DOUBLE: Code = Code::EVEX_Vcvtuqq2pd_zmm_k1z_zmmm512b64_er;
const FROM_DOUBLE: Code = Code::EVEX_Vcvttpd2uqq_zmm_k1z_zmmm512b64_sae;
const ADD: Code = Code::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64;
const SUBTRACT: Code = Code::EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64;
const MULTIPLY: Code = Code::EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64;
const MIN: Code = Code::EVEX_Vpminuq_zmm_k1z_zmm_zmmm512b64;
const MAX: Code = Code::EVEX_Vpmaxuq_zmm_k1z_zmm_zmmm512b64;
const XOR: Code = Code::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64;
const ABSOLUTE: Code = Code::EVEX_Vpabsq_zmm_k1z_zmmm512b64;
const SHIFT_RIGHT: Code = Code::EVEX_Vpsraq_zmm_k1z_zmmm512b64_imm8;
const COMPARE: Code = Code::EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8;
const TEST_ZERO: Code = Code::EVEX_Vptestnmq_kr_k1_zmm_zmmm512b64;
const MASK_TO_ONES: Code = Code::EVEX_Vpmovm2q_zmm_kr;
const BLEND: Code = Code::EVEX_Vpblendmq_zmm_k1z_zmm_zmmm512b64;

/// Predicate of an unsigned comparison: not less.
const NOT_LESS: i32 = 5;

/// Divisor of a register of numbers.
#[derive(Clone, Copy)]
struct Divisor {
    /// Absolute value, at least 1.
    number: Operand,
    /// Slightly less than the inverse of `number`.
    per: Operand,
    /// All ones where the divisor is negative; `None` if it cannot be negative.
    sign: Option<Operand>,
    /// Lanes in which the divisor is 0; `None` if it cannot be 0.
    is_zero: Option<VReg>,
}

impl Lower<'_> {
    /// Appends `op(a, b)` for a division or remainder of 64-bit integers.
    pub(super) fn divide_wide(&mut self, wide: &Wide) {
        let signed = matches!(wide.op, WideOp::SDiv | WideOp::SRem);
        let a = self.whole(&wide.words[..2]);
        let known = match [wide.words[2], wide.words[3]].map(|word| self.constant(word).map(u64::from)) {
            [Some(low), Some(high)] => Some(low | high << 32).filter(|number| *number != 0),
            _ => None,
        };
        let (divisors, b) = match known {
            Some(number) => ([self.known_divisor(number, signed); 2], a),
            None => {
                let b = self.whole(&wide.words[2..]);
                let first = self.divisor(b[0].at(0), signed);
                let second = if b[0] == b[1] { first } else { self.divisor(b[1].at(0), signed) };
                ([first, second], b)
            }
        };
        let whole = self.each_half(&[a, b], |lower, half| {
            let result = lower.quotient_or_rest(wide.op, a[half].at(0), &divisors[half]);
            WaveRegs::one(lower.with_zero(wide.op, result, &divisors[half]))
        });
        self.set_wide(wide.result, whole);
    }

    fn known_divisor(&mut self, number: u64, signed: bool) -> Divisor {
        let is_negative = signed && (number as i64) < 0;
        let number = if is_negative { number.wrapping_neg() } else { number };
        Divisor {
            number: self.broadcast64(number),
            per: self.broadcast64((LESS_THAN_ONE / number as f64).to_bits()),
            sign: is_negative.then(|| self.broadcast64(u64::MAX)),
            is_zero: None,
        }
    }

    fn divisor(&mut self, number: VReg, signed: bool) -> Divisor {
        let is_zero = self.define(MASK, TEST_ZERO, &[Operand::Use(number), Operand::Use(number)]);
        let (number, sign) = if signed { self.without_sign(number) } else { (number, None) };
        let one = self.broadcast64(1);
        let number = self.define(VECTOR, MAX, &[Operand::Use(number), one]);
        let double = self.define(VECTOR, TO_DOUBLE, &[Operand::Use(number)]);
        let less = Mem::pool(self.pooled(LESS_THAN_ONE.to_le_bytes().to_vec()), false);
        let less = self.define(VECTOR, Code::EVEX_Vbroadcastsd_zmm_k1z_xmmm64, &[Operand::Mem(less)]);
        let per = self.define(VECTOR, V::DivD.code(Target::Avx512), &[Operand::Use(less), Operand::Use(double)]);
        let [number, per] = [number, per].map(Operand::Use);
        Divisor { number, per, sign: sign.map(Operand::Use), is_zero: Some(is_zero) }
    }

    /// Returns the absolute value of a number, and all ones where it is negative.
    fn without_sign(&mut self, number: VReg) -> (VReg, Option<VReg>) {
        let sign = self.define(VECTOR, SHIFT_RIGHT, &[Operand::Use(number), Operand::Imm(63)]);
        (self.define(VECTOR, ABSOLUTE, &[Operand::Use(number)]), Some(sign))
    }

    fn quotient_or_rest(&mut self, op: WideOp, a: VReg, divisor: &Divisor) -> VReg {
        let (a, sign) = match op {
            WideOp::SDiv | WideOp::SRem => self.without_sign(a),
            _ => (a, None),
        };
        let [first, rest] = self.estimate(a, divisor);
        let [second, rest] = self.estimate(rest, divisor);
        // The remainder is less than twice the divisor.
        if matches!(op, WideOp::SRem | WideOp::UMod) {
            let less = self.define(VECTOR, SUBTRACT, &[Operand::Use(rest), divisor.number]);
            let rest = self.define(VECTOR, MIN, &[Operand::Use(rest), Operand::Use(less)]);
            return self.with_sign(rest, sign);
        }
        let quotient = self.define(VECTOR, ADD, &[Operand::Use(first), Operand::Use(second)]);
        let is_more = self.define(MASK, COMPARE, &[Operand::Use(rest), divisor.number, Operand::Imm(NOT_LESS)]);
        let minus_one = self.define(VECTOR, MASK_TO_ONES, &[Operand::Use(is_more)]);
        let quotient = self.define(VECTOR, SUBTRACT, &[Operand::Use(quotient), Operand::Use(minus_one)]);
        let sign = match (sign, divisor.sign) {
            (Some(a), Some(b)) => Some(self.define(VECTOR, XOR, &[Operand::Use(a), b])),
            (sign, _) => sign,
        };
        self.with_sign(quotient, sign)
    }

    /// Replaces the result in lanes with a divisor of 0.
    fn with_zero(&mut self, op: WideOp, result: VReg, divisor: &Divisor) -> VReg {
        let Some(is_zero) = divisor.is_zero else { return result };
        let of_zero = self.broadcast64(if op == WideOp::SDiv { 0 } else { u64::MAX });
        let replaced = self.vector_register();
        self.masked(BLEND, &[Operand::Def(replaced), Operand::Use(result), of_zero], is_zero, false);
        replaced
    }

    /// Returns an estimate of the quotient and the remainder that it leaves.
    fn estimate(&mut self, rest: VReg, divisor: &Divisor) -> [VReg; 2] {
        let double = self.define(VECTOR, TO_DOUBLE, &[Operand::Use(rest)]);
        let part = self.define(VECTOR, V::MulD.code(Target::Avx512), &[Operand::Use(double), divisor.per]);
        let part = self.define(VECTOR, FROM_DOUBLE, &[Operand::Use(part)]);
        let taken = self.define(VECTOR, MULTIPLY, &[Operand::Use(part), divisor.number]);
        [part, self.define(VECTOR, SUBTRACT, &[Operand::Use(rest), Operand::Use(taken)])]
    }

    /// Negates a number in lanes where the sign is all ones.
    fn with_sign(&mut self, number: VReg, sign: Option<VReg>) -> VReg {
        let Some(sign) = sign else { return number };
        let flipped = self.define(VECTOR, XOR, &[Operand::Use(number), Operand::Use(sign)]);
        self.define(VECTOR, SUBTRACT, &[Operand::Use(flipped), Operand::Use(sign)])
    }
}
