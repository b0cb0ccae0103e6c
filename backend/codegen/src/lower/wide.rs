//! Operations on 64-bit numbers. Pairs of dwords are combined to whole numbers, and are split into
//! dwords again on demand.
//!
//! A register of low dwords and one of high dwords combine to two registers of numbers. Each of
//! the two has every other pair of lanes, because instructions that interleave dwords work within
//! 128 bits. The lane of a number does not matter until it is split, which undoes the order.
//! Uniform numbers are equal in both registers, so they are computed once.

use iced_x86::Code;
use vitric_ir::{Value, Wide, WideOp};

use super::super::machine::{MASK, Mem, Operand, VECTOR};
use super::super::table::{self, V};
use super::convert::Key;
use super::{Lower, ValueLocation, WaveRegs};
use crate::Target;

/// 64-bit numbers of a wave: the first two lanes of each group of four, and the last two.
pub(super) type WideRegs = [WaveRegs; 2];

/// 2^63 in double precision.
const TWO_TO_63: u64 = 0x43e0_0000_0000_0000;

/// Order of 64-bit elements of a register of dwords in which its halves have the lanes of two
/// registers of whole numbers.
const DEINTERLEAVE: [u64; 8] = [0, 2, 4, 6, 1, 3, 5, 7];

/// Inverse of `DEINTERLEAVE`.
const INTERLEAVE: [u64; 8] = [0, 4, 1, 5, 2, 6, 3, 7];

impl Lower<'_> {
    /// Lowers an operation that the target supports with a few instructions. Returns false for
    /// other operations.
    pub(super) fn wide(&mut self, wide: &Wide) -> bool {
        let Wide { op, words, result, .. } = wide;
        let target = self.target;
        let has_integers = target == Target::Avx512;
        match op {
            WideOp::FAdd => self.wide_binary(*result, V::AddD, words, false),
            WideOp::FSub => self.wide_binary(*result, V::SubD, words, false),
            WideOp::FMul => self.wide_binary(*result, V::MulD, words, false),
            WideOp::FDiv => self.wide_binary(*result, V::DivD, words, false),
            // `minpd b, a` computes `b < a ? b : a`.
            WideOp::FMin => self.wide_binary(*result, V::MinD, words, true),
            WideOp::FMax => self.wide_binary(*result, V::MaxD, words, true),
            WideOp::Fma => self.wide_fma(*result, words),
            WideOp::Sqrt => self.wide_unary(*result, V::SqrtD.code(target), words),
            WideOp::RoundEven => self.wide_round(*result, words, 0),
            WideOp::Floor => self.wide_round(*result, words, 1),
            WideOp::Ceil => self.wide_round(*result, words, 2),
            WideOp::Trunc => self.wide_round(*result, words, 3),
            WideOp::FlushDenormal => self.flush_doubles(*result, words),
            WideOp::FEq => self.wide_compare(*result, table::EQUAL_ORDERED, words),
            WideOp::FNe => self.wide_compare(*result, table::NOT_EQUAL, words),
            WideOp::FLt => self.wide_compare(*result, table::LESS, words),
            WideOp::FLe => self.wide_compare(*result, table::LESS_OR_EQUAL, words),
            WideOp::F32ToF64 => self.widen(*result, words[0]),
            WideOp::F64ToF32 => self.narrow(*result, V::DoubleToFloat.code(target), words),
            WideOp::S64ToF32 if has_integers => self.narrow(*result, Code::EVEX_Vcvtqq2ps_ymm_k1z_zmmm512b64_er, words),
            WideOp::U64ToF32 if has_integers => {
                self.narrow(*result, Code::EVEX_Vcvtuqq2ps_ymm_k1z_zmmm512b64_er, words)
            }
            WideOp::S64ToF64 if has_integers => {
                self.wide_unary(*result, Code::EVEX_Vcvtqq2pd_zmm_k1z_zmmm512b64_er, words)
            }
            WideOp::U64ToF64 if has_integers => {
                self.wide_unary(*result, Code::EVEX_Vcvtuqq2pd_zmm_k1z_zmmm512b64_er, words)
            }
            WideOp::F64ToS64 if has_integers => self.doubles_to_signed(*result, words),
            WideOp::F64ToU64 if has_integers => self.doubles_to_unsigned(*result, words),
            WideOp::SDiv | WideOp::UDiv | WideOp::SRem | WideOp::UMod if has_integers => self.divide_wide(wide),
            _ => return false,
        }
        true
    }

    /// Returns the numbers of the low and high dwords in `words`.
    pub(super) fn whole(&mut self, words: &[Value]) -> WideRegs {
        let [low, high] = [words[0], words[1]];
        if let (ValueLocation::Half { of, high: false }, ValueLocation::Half { of: same, high: true }) =
            (self.values[low.0 as usize], self.values[high.0 as usize])
            && of == same
        {
            return self.wholes[of as usize];
        }
        let interleaved = |lower: &mut Self, op: V| {
            let (low, high) = (lower.vector(low), lower.vector(high));
            lower.vector2(op, low, high)
        };
        let first = self.cached(Key::Wide([low, high], 0), |lower| interleaved(lower, V::InterleaveLow));
        if first.count == 1 && self.is_uniform(low) && self.is_uniform(high) {
            return [first; 2];
        }
        [first, self.cached(Key::Wide([low, high], 1), |lower| interleaved(lower, V::InterleaveHigh))]
    }

    /// Defines numbers as two values: `result` for the low dword and the next value for the high
    /// one.
    pub(super) fn set_wide(&mut self, result: Value, whole: WideRegs) {
        let of = self.wholes.len() as u32;
        self.wholes.push(whole);
        self.set_location(result, ValueLocation::Half { of, high: false });
        self.set_location(Value(result.0 + 1), ValueLocation::Half { of, high: true });
    }

    /// Returns the low or high dwords of numbers.
    pub(super) fn half(&mut self, of: u32, high: bool) -> WaveRegs {
        let [first, second] = self.wholes[of as usize];
        self.words_of([first, second], high)
    }

    /// Returns the low or high dwords of two registers with 64-bit elements.
    fn words_of(&mut self, [first, second]: WideRegs, high: bool) -> WaveRegs {
        let code = match self.target {
            Target::Avx512 => Code::EVEX_Vshufps_zmm_k1z_zmm_zmmm512b32_imm8,
            Target::Avx2 => Code::VEX_Vshufps_ymm_ymm_ymmm256_imm8,
        };
        let which = Operand::Imm(if high { 0xdd } else { 0x88 });
        self.parts(first.count, |lower, part| {
            lower.define(VECTOR, code, &[Operand::Use(first.at(part)), Operand::Use(second.at(part)), which])
        })
    }

    /// Applies `op` to both halves of numbers, or once if each operand is equal in both halves.
    pub(super) fn each_half(
        &mut self,
        operands: &[WideRegs],
        mut op: impl FnMut(&mut Self, usize) -> WaveRegs,
    ) -> WideRegs {
        let first = op(self, 0);
        if operands.iter().all(|[first, second]| first == second) {
            return [first; 2];
        }
        [first, op(self, 1)]
    }

    fn wide_unary(&mut self, result: Value, code: Code, words: &[Value]) {
        let a = self.whole(words);
        let whole = self.each_half(&[a], |lower, half| lower.vector1(code, a[half]));
        self.set_wide(result, whole);
    }

    fn wide_binary(&mut self, result: Value, op: V, words: &[Value], swapped: bool) {
        let (a, b) = (self.whole(&words[..2]), self.whole(&words[2..]));
        let (a, b) = if swapped { (b, a) } else { (a, b) };
        let whole = self.each_half(&[a, b], |lower, half| lower.vector2(op, a[half], b[half]));
        self.set_wide(result, whole);
    }

    fn wide_fma(&mut self, result: Value, words: &[Value]) {
        let [a, b, c] = [0, 2, 4].map(|word| self.whole(&words[word..]));
        let fused = |lower: &mut Self, half: usize| lower.fused(V::Fma213D, a[half], b[half], c[half].into());
        let whole = self.each_half(&[a, b, c], fused);
        self.set_wide(result, whole);
    }

    fn wide_round(&mut self, result: Value, words: &[Value], mode: i32) {
        let code = match self.target {
            Target::Avx512 => Code::EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae,
            Target::Avx2 => Code::VEX_Vroundpd_ymm_ymmm256_imm8,
        };
        let a = self.whole(words);
        let whole = self.each_half(&[a], |lower, half| lower.vector_immediate(code, a[half], mode | 8));
        self.set_wide(result, whole);
    }

    fn flush_doubles(&mut self, result: Value, words: &[Value]) {
        let a = self.whole(words);
        let whole = self.each_half(&[a], |lower, half| lower.flush_double(a[half]));
        self.set_wide(result, whole);
    }

    fn wide_compare(&mut self, result: Value, predicate: i32, words: &[Value]) {
        let (a, b) = (self.whole(&words[..2]), self.whole(&words[2..]));
        let ones = self.each_half(&[a, b], |lower, half| lower.ones_where(predicate, a[half], b[half]));
        let lanes = self.words_of(ones, false);
        let mask = match self.target {
            Target::Avx512 => {
                WaveRegs::one(self.define(MASK, Code::EVEX_Vpmovd2m_kr_zmm, &[Operand::Use(lanes.at(0))]))
            }
            Target::Avx2 => lanes,
        };
        self.set_location(result, ValueLocation::Mask(mask));
    }

    /// Returns 64-bit elements of all ones where a comparison holds, and zero elsewhere.
    fn ones_where(&mut self, predicate: i32, a: WaveRegs, b: WaveRegs) -> WaveRegs {
        if self.target == Target::Avx512 {
            let mask = self.compare_doubles(predicate, a, Operand::Use(b.at(0)));
            return WaveRegs::one(self.define(VECTOR, Code::EVEX_Vpmovm2q_zmm_kr, &[Operand::Use(mask.at(0))]));
        }
        self.parts(a.count.max(b.count), |lower, part| {
            let sources = [Operand::Use(a.at(part)), Operand::Use(b.at(part)), Operand::Imm(predicate)];
            lower.define(VECTOR, Code::VEX_Vcmppd_ymm_ymm_ymmm256_imm8, &sources)
        })
    }

    /// Compares eight numbers and returns a mask (AVX-512 only).
    fn compare_doubles(&mut self, predicate: i32, a: WaveRegs, b: Operand) -> WaveRegs {
        let sources = [Operand::Use(a.at(0)), b, Operand::Imm(predicate)];
        WaveRegs::one(self.define(MASK, Code::EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae, &sources))
    }

    /// Converts single-precision floats to doubles.
    fn widen(&mut self, result: Value, word: Value) {
        let words = self.vector(word);
        let apart = self.moved(words, DEINTERLEAVE);
        let (extract, convert) = match self.target {
            Target::Avx512 => {
                (Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8, Code::EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae)
            }
            Target::Avx2 => (Code::VEX_Vextracti128_xmmm128_ymm_imm8, Code::VEX_Vcvtps2pd_ymm_xmmm128),
        };
        let first = self.vector1(convert, apart);
        let second = self.vector_immediate(extract, apart, 1);
        let second = self.vector1(convert, second);
        self.set_wide(result, [first, second]);
    }

    /// Converts numbers to single-precision floats, with `code` for each register.
    fn narrow(&mut self, result: Value, code: Code, words: &[Value]) {
        let whole = self.whole(words);
        let insert = match self.target {
            Target::Avx512 => Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8,
            Target::Avx2 => Code::VEX_Vinserti128_ymm_ymm_xmmm128_imm8,
        };
        let [first, second] = self.each_half(&[whole], |lower, half| lower.vector1(code, whole[half]));
        let both = self.parts(first.count, |lower, part| {
            let sources = [Operand::Use(first.at(part)), Operand::Use(second.at(part)), Operand::Imm(1)];
            lower.define(VECTOR, insert, &sources)
        });
        let together = self.moved(both, INTERLEAVE);
        self.set_location(result, ValueLocation::Vector(together));
    }

    /// Permutes the 64-bit elements of registers by `order`: `DEINTERLEAVE` or `INTERLEAVE`.
    fn moved(&mut self, words: WaveRegs, order: [u64; 8]) -> WaveRegs {
        if self.target == Target::Avx2 {
            // For four elements the permutation is its own inverse.
            return self.vector_immediate(Code::VEX_Vpermq_ymm_ymmm256_imm8, words, 0b11_01_10_00);
        }
        let order = Mem::pool(self.pooled(order.iter().flat_map(|number| number.to_le_bytes()).collect()), false);
        let order = self.define(VECTOR, Code::EVEX_Vmovups_zmm_k1z_zmmm512, &[Operand::Mem(order)]);
        let sources = [Operand::Use(order), Operand::Use(words.at(0))];
        WaveRegs::one(self.define(VECTOR, Code::EVEX_Vpermq_zmm_k1z_zmm_zmmm512b64, &sources))
    }

    /// Converts doubles to signed integers: truncates and saturates, and converts NaN to 0.
    fn doubles_to_signed(&mut self, result: Value, words: &[Value]) {
        let a = self.whole(words);
        let whole = self.each_half(&[a], |lower, half| {
            let limit = lower.broadcast64(TWO_TO_63);
            let over = lower.compare_doubles(table::GREATER_OR_EQUAL, a[half], limit);
            let number = lower.compare_doubles(table::ORDERED, a[half], Operand::Use(a[half].at(0)));
            let most = lower.broadcast64(i64::MAX as u64);
            let (converted, clamped) = (lower.vector_register(), lower.vector_register());
            let source = Operand::Use(a[half].at(0));
            let code = Code::EVEX_Vcvttpd2qq_zmm_k1z_zmmm512b64_sae;
            lower.masked(code, &[Operand::Def(converted), source], number.at(0), true);
            let operands = [Operand::Def(clamped), Operand::Use(converted), most];
            lower.masked(Code::EVEX_Vpblendmq_zmm_k1z_zmm_zmmm512b64, &operands, over.at(0), false);
            WaveRegs::one(clamped)
        });
        self.set_wide(result, whole);
    }

    /// Converts doubles to unsigned integers: truncates and saturates, and converts NaN to 0.
    fn doubles_to_unsigned(&mut self, result: Value, words: &[Value]) {
        let a = self.whole(words);
        let whole = self.each_half(&[a], |lower, half| {
            // `maxpd a, 0` is 0 if `a` is NaN.
            let zero = lower.zero_vector();
            let positive = lower.vector2(V::MaxD, a[half], zero);
            lower.vector1(Code::EVEX_Vcvttpd2uqq_zmm_k1z_zmmm512b64_sae, positive)
        });
        self.set_wide(result, whole);
    }

    /// Returns a number in all lanes as the last source of an instruction (AVX-512 only).
    pub(super) fn broadcast64(&mut self, bits: u64) -> Operand {
        let at = self.pooled(bits.to_le_bytes().to_vec());
        Operand::Mem(Mem::pool(at, true))
    }
}
