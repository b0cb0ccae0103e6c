//! Scalar operations of the IR over the lanes of a wave.

use iced_x86::Code;
use regalloc2::VReg;
use smallvec::SmallVec;
use vitric_ir::{BinaryOp, LEAST_HALF, LEAST_SINGLE, TernaryOp, Type, UnaryOp, Value};

use super::super::machine::{MASK, MachineInst, Masking, Operand, VECTOR};
use super::super::table::{self, Compare, Order, Shift, V};
use super::classify::Form;
use super::emit::Source;
use super::{Lower, Result, ValueLocation, WaveRegs};
use crate::Target;

/// 2^31 as a float.
const TWO_TO_31: u32 = 0x4f00_0000;
/// 2^32 as a float.
const TWO_TO_32: u32 = 0x4f80_0000;
/// 2^16 as a float.
const TWO_TO_16: u32 = 0x4780_0000;
const SIGN: u32 = 0x8000_0000;

impl Lower<'_> {
    fn is_scalar(&self, result: Value) -> bool {
        self.forms.values[result.0 as usize] == Form::Scalar
    }

    fn set_vector(&mut self, result: Value, parts: WaveRegs) {
        self.set_location(result, ValueLocation::Vector(parts));
    }

    pub(super) fn unary(&mut self, result: Value, op: UnaryOp, a: Value) -> Result<()> {
        if self.is_scalar(result) {
            self.scalar_unary(result, op, a);
            return Ok(());
        }
        match op {
            UnaryOp::Copy | UnaryOp::AsFloat => self.copy(result, a),
            UnaryOp::AsBool => {
                let words = self.vector(a);
                let mask = self.words_to_mask(words);
                self.set_location(result, ValueLocation::Mask(mask));
            }
            UnaryOp::LogicalNot => {
                let mask = self.mask(a);
                let mask = if self.forms.uses.opposite[a.0 as usize] { mask } else { self.mask_not(mask) };
                self.set_location(result, ValueLocation::Mask(mask));
            }
            UnaryOp::IsNan => {
                let a = self.vector(a);
                let mask = self.compare(Compare::Float(table::UNORDERED), a, a.into());
                self.set_location(result, ValueLocation::Mask(mask));
            }
            UnaryOp::Sqrt if self.is_uniform(result) => {
                let root = match self.target {
                    Target::Avx512 => Code::EVEX_Vsqrtps_xmm_k1z_xmmm128b32,
                    Target::Avx2 => Code::VEX_Vsqrtps_xmm_xmmm128,
                };
                self.in_short(result, root, &[a]);
            }
            _ => {
                let a = self.vector(a);
                match self.vector_unary(op, a) {
                    Some(parts) => self.set_vector(result, parts),
                    None => return Err(format!("{op:?}")),
                }
            }
        }
        Ok(())
    }

    /// Appends a slow operation on uniform values. It computes four lanes, in half the time of a
    /// whole vector, and broadcasts the first one.
    fn in_short(&mut self, result: Value, code: Code, operands: &[Value]) {
        let operands: SmallVec<[Operand; 2]> =
            operands.iter().map(|&operand| Operand::Use(self.vector(operand).at(0))).collect();
        let few = self.define(VECTOR, code, &operands);
        let to_all = match self.target {
            Target::Avx512 => Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32,
            Target::Avx2 => Code::VEX_Vbroadcastss_ymm_xmm,
        };
        let all = self.define(VECTOR, to_all, &[Operand::Use(few)]);
        self.set_vector(result, WaveRegs::one(all));
    }

    /// Defines `result` as the bits of `a` with another type.
    fn copy(&mut self, result: Value, a: Value) {
        let location = match self.values[a.0 as usize] {
            ValueLocation::Mask(_) | ValueLocation::Scalar(_) | ValueLocation::Nowhere => {
                ValueLocation::Vector(self.vector(a))
            }
            same => same,
        };
        self.set_location(result, location);
    }

    fn vector_unary(&mut self, op: UnaryOp, a: WaveRegs) -> Option<WaveRegs> {
        if let Some(op) = table::unary(op) {
            return Some(self.vector1(op.code(self.target), a));
        }
        Some(match op {
            UnaryOp::INeg => {
                let zero = self.zero_vector();
                self.vector2(V::SubI, zero, a)
            }
            UnaryOp::BitNot => self.vector2(V::Xor, a, Source::Constant(u32::MAX)),
            UnaryOp::FNeg => self.vector2(V::Xor, a, Source::Constant(SIGN)),
            UnaryOp::FAbs => self.vector2(V::And, a, Source::Constant(!SIGN)),
            UnaryOp::RoundEven => self.round(a, 0),
            UnaryOp::Floor => self.round(a, 1),
            UnaryOp::Ceil => self.round(a, 2),
            UnaryOp::Trunc => self.round(a, 3),
            UnaryOp::FToS => self.float_to_signed(a),
            UnaryOp::FToU => self.float_to_unsigned(a),
            UnaryOp::UToF => self.unsigned_to_float(a),
            UnaryOp::HalfToFloat => self.half_to_float(a),
            UnaryOp::FloatToHalf => self.float_to_half(a),
            UnaryOp::FlushDenormal => self.flush(a, LEAST_SINGLE),
            UnaryOp::FlushHalfDenormal => self.flush(a, LEAST_HALF),
            UnaryOp::BitCount => self.bit_count(a),
            UnaryOp::DdxFine => self.derivative(a, (0xf5, 0xa0)),
            UnaryOp::DdyFine => self.derivative(a, (0xee, 0x44)),
            UnaryOp::DdxCoarse => self.derivative(a, (0x55, 0x00)),
            UnaryOp::DdyCoarse => self.derivative(a, (0xaa, 0x00)),
            _ => return None,
        })
    }

    /// Rounds to an integer. `mode` is 0 for nearest even, 1 for down, 2 for up and 3 for toward
    /// zero.
    fn round(&mut self, a: WaveRegs, mode: i32) -> WaveRegs {
        // Bit 3 suppresses the inexact exception.
        let code = match self.target {
            Target::Avx512 => Code::EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae,
            Target::Avx2 => Code::VEX_Vroundps_ymm_ymmm256_imm8,
        };
        self.vector_immediate(code, a, mode | 8)
    }

    /// Returns differences between lanes of each quad, which two shuffles select.
    fn derivative(&mut self, a: WaveRegs, (to, from): (i32, i32)) -> WaveRegs {
        let code = match self.target {
            Target::Avx512 => Code::EVEX_Vpermilps_zmm_k1z_zmmm512b32_imm8,
            Target::Avx2 => Code::VEX_Vpermilps_ymm_ymmm256_imm8,
        };
        let to = self.vector_immediate(code, a, to);
        let from = self.vector_immediate(code, a, from);
        self.vector2(V::SubF, to, from)
    }

    /// Converts floats to signed integers: truncates and saturates, and converts NaN to 0.
    fn float_to_signed(&mut self, a: WaveRegs) -> WaveRegs {
        let number = self.compare(Compare::Float(table::ORDERED), a, a.into());
        let over = self.compare(Compare::Float(table::GREATER_OR_EQUAL), a, Source::Constant(TWO_TO_31));
        let converted = self.vector1(V::FloatToInt.code(self.target), a);
        let clamped = self.blend(over, converted, Source::Constant(i32::MAX as u32));
        self.keep(number, clamped)
    }

    fn float_to_unsigned(&mut self, a: WaveRegs) -> WaveRegs {
        // `maxps a, 0` is 0 if `a` is NaN.
        let positive = self.vector2(V::MaxF, a, Source::Constant(0));
        if self.target == Target::Avx512 {
            return self.vector1(Code::EVEX_Vcvttps2udq_zmm_k1z_zmmm512b32_sae, positive);
        }
        let large = self.compare(Compare::Float(table::GREATER_OR_EQUAL), positive, Source::Constant(TWO_TO_31));
        let over = self.compare(Compare::Float(table::GREATER_OR_EQUAL), positive, Source::Constant(TWO_TO_32));
        let less = self.vector2(V::And, large, Source::Constant(TWO_TO_31));
        let small = self.vector2(V::SubF, positive, less);
        let converted = self.vector1(V::FloatToInt.code(self.target), small);
        let top = self.vector2(V::And, large, Source::Constant(SIGN));
        let whole = self.vector2(V::Xor, converted, top);
        self.vector2(V::Or, whole, over)
    }

    fn unsigned_to_float(&mut self, a: WaveRegs) -> WaveRegs {
        if self.target == Target::Avx512 {
            return self.vector1(Code::EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er, a);
        }
        // Both halves and the product with 2^16 are exact, so only the sum rounds.
        let high = self.shift(Shift::Right, a, 16);
        let low = self.vector2(V::And, a, Source::Constant(0xffff));
        let high = self.vector1(V::IntToFloat.code(self.target), high);
        let low = self.vector1(V::IntToFloat.code(self.target), low);
        let high = self.vector2(V::MulF, high, Source::Constant(TWO_TO_16));
        self.vector2(V::AddF, high, low)
    }

    fn half_to_float(&mut self, a: WaveRegs) -> WaveRegs {
        match self.target {
            Target::Avx512 => {
                let narrow = self.vector1(Code::EVEX_Vpmovdw_ymmm256_k1z_zmm, a);
                self.vector1(Code::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae, narrow)
            }
            Target::Avx2 => {
                let words = self.vector2(V::And, a, Source::Constant(0xffff));
                let high = self.vector_immediate(Code::VEX_Vextracti128_xmmm128_ymm_imm8, words, 1);
                let narrow = self.parts(words.count, |lower, part| {
                    let sources = [Operand::Use(words.at(part)), Operand::Use(high.at(part))];
                    lower.define(VECTOR, Code::VEX_Vpackusdw_xmm_xmm_xmmm128, &sources)
                });
                self.vector1(Code::VEX_Vcvtph2ps_ymm_xmmm128, narrow)
            }
        }
    }

    fn float_to_half(&mut self, a: WaveRegs) -> WaveRegs {
        let (narrow, widen) = match self.target {
            Target::Avx512 => (Code::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae, Code::EVEX_Vpmovzxwd_zmm_k1z_ymmm256),
            Target::Avx2 => (Code::VEX_Vcvtps2ph_xmmm128_ymm_imm8, Code::VEX_Vpmovzxwd_ymm_xmmm128),
        };
        let halves = self.vector_immediate(narrow, a, 0);
        self.vector1(widen, halves)
    }

    /// Counts the set bits by adding adjacent bit fields.
    fn bit_count(&mut self, a: WaveRegs) -> WaveRegs {
        let pairs = self.shift(Shift::Right, a, 1);
        let pairs = self.vector2(V::And, pairs, Source::Constant(0x5555_5555));
        let pairs = self.vector2(V::SubI, a, pairs);
        let low = self.vector2(V::And, pairs, Source::Constant(0x3333_3333));
        let high = self.shift(Shift::Right, pairs, 2);
        let high = self.vector2(V::And, high, Source::Constant(0x3333_3333));
        let nibbles = self.vector2(V::AddI, low, high);
        let shifted = self.shift(Shift::Right, nibbles, 4);
        let bytes = self.vector2(V::AddI, nibbles, shifted);
        let bytes = self.vector2(V::And, bytes, Source::Constant(0x0f0f_0f0f));
        let sum = self.vector2(V::MulI, bytes, Source::Constant(0x0101_0101));
        self.shift(Shift::Right, sum, 24)
    }

    pub(super) fn binary(&mut self, result: Value, op: BinaryOp, a: Value, b: Value) -> Result<()> {
        if self.is_scalar(result) {
            self.scalar_binary(result, op, a, b);
            return Ok(());
        }
        if let Some(compare) = table::comparison(op) {
            let compare = if self.forms.uses.opposite[result.0 as usize] { compare.opposite() } else { compare };
            let (a, b) = (self.vector(a), self.source(b));
            let mask = self.compare(compare, a, b);
            self.set_location(result, ValueLocation::Mask(mask));
            return Ok(());
        }
        match op {
            BinaryOp::LogicalAnd | BinaryOp::LogicalOr | BinaryOp::LogicalEq | BinaryOp::LogicalNe => {
                self.logical(result, op, a, b);
            }
            BinaryOp::UMulHi | BinaryOp::SMulHi => {
                let (a, b) = (self.vector(a), self.vector(b));
                let parts = self.multiply_high(if op == BinaryOp::UMulHi { V::MulEvenU } else { V::MulEvenS }, a, b);
                self.set_vector(result, parts);
            }
            BinaryOp::SDot | BinaryOp::UDot | BinaryOp::SUDot => {
                let (a, b) = (self.vector(a), self.vector(b));
                let sum = self.dot_of_bytes(op, a, b);
                self.set_vector(result, sum);
            }
            BinaryOp::SDiv | BinaryOp::UDiv | BinaryOp::SRem | BinaryOp::UMod => {
                let may_be_zero = self.constant(b).is_none_or(|divisor| divisor == 0);
                let (a, b) = (self.vector(a), self.vector(b));
                let parts = self.divide(op, (a, b), may_be_zero);
                self.set_vector(result, parts);
            }
            BinaryOp::FMinNum => self.extremum_of_numbers(result, V::MinF, (a, b)),
            BinaryOp::FMaxNum => self.extremum_of_numbers(result, V::MaxF, (a, b)),
            BinaryOp::FDiv if self.is_uniform(result) => {
                let quotient = match self.target {
                    Target::Avx512 => Code::EVEX_Vdivps_xmm_k1z_xmm_xmmm128b32,
                    Target::Avx2 => Code::VEX_Vdivps_xmm_xmm_xmmm128,
                };
                self.in_short(result, quotient, &[a, b]);
            }
            _ => match table::binary(op) {
                Some((op, swapped)) => self.vector_binary(result, op, if swapped { (b, a) } else { (a, b) }),
                None => return Err(format!("{op:?}")),
            },
        }
        Ok(())
    }

    fn vector_binary(&mut self, result: Value, op: V, (a, b): (Value, Value)) {
        let (a, b) = if table::commutes(op) && self.is_memory(a) { (b, a) } else { (a, b) };
        let immediate = match (op, self.constant(b)) {
            // A multiplication has a latency of ten cycles.
            (V::MulI, Some(factor)) if factor.is_power_of_two() => Some((Shift::Left, factor.ilog2())),
            (V::ShiftLeft, Some(count)) => Some((Shift::Left, count)),
            (V::ShiftRight, Some(count)) => Some((Shift::Right, count)),
            (V::ShiftRightSigned, Some(count)) => Some((Shift::RightSigned, count)),
            _ => None,
        };
        let first = self.vector(a);
        let parts = match immediate {
            Some((shift, count)) => self.shift(shift, first, count.min(32)),
            None => {
                let second = self.source(b);
                self.vector2(op, first, second)
            }
        };
        self.set_vector(result, parts);
    }

    /// Appends `op(a, b)` with the result `a` in lanes where `b` is NaN. The processor's
    /// instruction returns `b` if either operand is NaN.
    ///
    /// With AVX-512 a masked instruction can keep `a` in these lanes, which saves one instruction.
    /// `op` then depends on the comparison of `b`, which lengthens a dependency chain through `b`.
    /// The masked form is therefore used only if `b` is the older value.
    fn extremum_of_numbers(&mut self, result: Value, op: V, (a, b): (Value, Value)) {
        let under_mask = self.target == Target::Avx512 && b.0 < a.0;
        let (a, b) = (self.vector(a), self.vector(b));
        let parts = match under_mask {
            true => {
                let mask = self.compare(Compare::Float(table::ORDERED), b, b.into());
                let to = self.vector_register();
                let change = Operand::Change { from: a.at(0), to };
                let operands = [change, Operand::Use(a.at(0)), Operand::Use(b.at(0))];
                self.masked(op.code(self.target), &operands, mask.at(0), false);
                WaveRegs::one(to)
            }
            false => {
                let mask = self.compare(Compare::Float(table::UNORDERED), b, b.into());
                let chosen = self.vector2(op, a, b);
                self.blend(mask, chosen, a.into())
            }
        };
        self.set_vector(result, parts);
    }

    fn logical(&mut self, result: Value, op: BinaryOp, a: Value, b: Value) {
        let (a, b) = (self.mask(a), self.mask(b));
        let mask = match op {
            BinaryOp::LogicalAnd => self.mask_and(a, b),
            BinaryOp::LogicalOr => self.mask_or(a, b),
            BinaryOp::LogicalNe => self.mask_xor(a, b),
            _ => {
                let different = self.mask_xor(a, b);
                self.mask_not(different)
            }
        };
        self.set_location(result, ValueLocation::Mask(mask));
    }

    /// Returns the high dwords of products. Odd lanes are shifted to even lanes for a second
    /// multiplication.
    fn multiply_high(&mut self, op: V, a: WaveRegs, b: WaveRegs) -> WaveRegs {
        let even = self.vector2(op, a, b);
        let (odd_a, odd_b) = (self.shift(Shift::Right64, a, 32), self.shift(Shift::Right64, b, 32));
        let odd = self.vector2(op, odd_a, odd_b);
        let even = self.shift(Shift::Right64, even, 32);
        let odd = self.shift(Shift::Right64, odd, 32);
        let odd = self.shift(Shift::Left64, odd, 32);
        self.vector2(V::Or, even, odd)
    }

    /// Returns the lanes in which a comparison holds.
    pub(super) fn compare(&mut self, compare: Compare, a: WaveRegs, b: Source) -> WaveRegs {
        match self.target {
            Target::Avx512 => {
                let (code, predicate) = match compare {
                    Compare::Float(predicate) => (Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae, predicate),
                    Compare::Signed(order) => (Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8, order.predicate()),
                    Compare::Unsigned(order) => (Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8, order.predicate()),
                };
                let second = self.source_operand(b, 0);
                let sources = [Operand::Use(a.at(0)), second, Operand::Imm(predicate)];
                WaveRegs::one(self.define(MASK, code, &sources))
            }
            Target::Avx2 => self.compare_lanes(compare, a, b),
        }
    }

    fn in_register(&mut self, source: Source) -> WaveRegs {
        match source {
            Source::WaveRegs(parts) => parts,
            Source::Constant(word) => self.broadcast_constant(word),
            Source::Memory(memory) => WaveRegs::one(self.load_broadcast(memory)),
        }
    }

    /// Compares with AVX2, which compares integers only for equality and for signed greater-than.
    fn compare_lanes(&mut self, compare: Compare, a: WaveRegs, b: Source) -> WaveRegs {
        let b = self.in_register(b);
        match compare {
            Compare::Float(predicate) => {
                let count = a.count.max(b.count);
                self.parts(count, |lower, part| {
                    let sources = [Operand::Use(a.at(part)), Operand::Use(b.at(part)), Operand::Imm(predicate)];
                    lower.define(VECTOR, Code::VEX_Vcmpps_ymm_ymm_ymmm256_imm8, &sources)
                })
            }
            Compare::Signed(order) => self.compare_signed(order, a, b),
            Compare::Unsigned(Order::Less) => {
                let (a, b) = self.with_sign_flipped(a, b);
                self.compare_signed(Order::Less, a, b)
            }
            Compare::Unsigned(Order::LessOrEqual) => {
                let (a, b) = self.with_sign_flipped(a, b);
                self.compare_signed(Order::LessOrEqual, a, b)
            }
            Compare::Unsigned(order) => self.compare_signed(order, a, b),
        }
    }

    fn with_sign_flipped(&mut self, a: WaveRegs, b: WaveRegs) -> (WaveRegs, WaveRegs) {
        (self.vector2(V::Xor, a, Source::Constant(SIGN)), self.vector2(V::Xor, b, Source::Constant(SIGN)))
    }

    fn compare_signed(&mut self, order: Order, a: WaveRegs, b: WaveRegs) -> WaveRegs {
        let (code, first, second) = match order {
            Order::Equal | Order::NotEqual => (Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256, a, b),
            Order::Less => (Code::VEX_Vpcmpgtd_ymm_ymm_ymmm256, b, a),
            Order::LessOrEqual => (Code::VEX_Vpcmpgtd_ymm_ymm_ymmm256, a, b),
        };
        let count = a.count.max(b.count);
        let compared = self.parts(count, |lower, part| {
            lower.define(VECTOR, code, &[Operand::Use(first.at(part)), Operand::Use(second.at(part))])
        });
        match order {
            Order::Equal | Order::Less => compared,
            Order::NotEqual | Order::LessOrEqual => self.vector2(V::Xor, compared, Source::Constant(u32::MAX)),
        }
    }

    /// Returns `new` in the lanes of a mask and `old` in the others.
    pub(super) fn blend(&mut self, mask: WaveRegs, old: WaveRegs, new: Source) -> WaveRegs {
        match self.target {
            Target::Avx512 => {
                let new = self.source_operand(new, 0);
                let result = self.vector_register();
                let operands = [Operand::Def(result), Operand::Use(old.at(0)), new];
                self.masked(Code::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32, &operands, mask.at(0), false);
                WaveRegs::one(result)
            }
            Target::Avx2 => {
                let new = self.in_register(new);
                let count = mask.count.max(old.count).max(new.count);
                self.parts(count, |lower, part| {
                    let sources = [old.at(part), new.at(part), mask.at(part)].map(Operand::Use);
                    lower.define(VECTOR, Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm, &sources)
                })
            }
        }
    }

    /// Returns the dwords in the lanes of a mask and 0 in the others.
    pub(super) fn keep(&mut self, mask: WaveRegs, words: WaveRegs) -> WaveRegs {
        match self.target {
            Target::Avx512 => {
                let result = self.vector_register();
                let operands = [Operand::Def(result), Operand::Use(words.at(0))];
                self.masked(Code::EVEX_Vmovaps_zmm_k1z_zmmm512, &operands, mask.at(0), true);
                WaveRegs::one(result)
            }
            Target::Avx2 => self.vector2(V::And, words, mask),
        }
    }

    pub(super) fn ternary(&mut self, result: Value, op: TernaryOp, [a, b, c]: [Value; 3]) {
        if self.is_scalar(result) {
            return self.scalar_select(result, [a, b, c]);
        }
        match op {
            TernaryOp::Fma => self.fma(result, [a, b, c]),
            _ if self.ir.types[result.0 as usize] == Type::Bool => {
                let (condition, b, c) = (self.mask(a), self.mask(b), self.mask(c));
                let taken = self.mask_and(condition, b);
                let other = self.mask_and_not(condition, c);
                let mask = self.mask_or(taken, other);
                self.set_location(result, ValueLocation::Mask(mask));
            }
            _ => {
                let (mask, old, new) = (self.mask(a), self.vector(c), self.source(b));
                let parts = self.blend(mask, old, new);
                self.set_vector(result, parts);
            }
        }
    }

    /// Appends `a * b + c`, with a memory operand if possible.
    fn fma(&mut self, result: Value, [a, b, c]: [Value; 3]) {
        let (a, b) = if self.is_memory(a) { (b, a) } else { (a, b) };
        // The instruction overwrites one operand. Choose one that was loaded only for it, or that
        // has no other use.
        let [ends_a, ends_b, ends_c] = [a, b, c].map(|value| self.forms.uses.once[value.0 as usize]);
        let loaded = self.is_memory(b);
        let parts = if !self.is_memory(c) && (loaded || ends_c && !ends_a && !ends_b) {
            let (addend, factor, second) = (self.vector(c), self.vector(a), self.source(b));
            self.fused(V::Fma231, addend, factor, second)
        } else {
            let (a, b) = if !loaded && ends_a && !ends_b { (b, a) } else { (a, b) };
            let (second, first, addend) = (self.vector(a), self.vector(b), self.source(c));
            self.fused(V::Fma213, first, second, addend)
        };
        self.set_vector(result, parts);
    }

    /// Appends an AVX-512 instruction that also writes its mask.
    pub(super) fn masked_change(&mut self, code: Code, operands: &[Operand], from: VReg) {
        let to = self.out.register(MASK);
        let mask = Some(Masking { register: Operand::Change { from, to }, zeroing: false });
        self.push(MachineInst::Plain { code, operands: smallvec::SmallVec::from_slice(operands), mask });
    }
}
