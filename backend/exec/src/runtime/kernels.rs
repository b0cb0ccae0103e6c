//! Interpreter operations over the 16 lanes of a wave. Each operation has its own loop, which the
//! compiler vectorizes.

use vitric_base::simd::{Lanes, Mask, WAVE, each, highest_bits, kernel, ones};
use vitric_ir::{BinaryOp, LESS_THAN_ONE, TernaryOp, UnaryOp, WideOp};

/// Runs `$body` with `$chosen` as a constant for each of the listed operations, so that each gets
/// its own loop. All other operations run `$rest`.
///
/// `$chosen` is a constant item because the compiler knows its value inside closures before it
/// decides on inlining.
macro_rules! per_operation {
    ($op:expr, $enum:ident [$($common:ident),+], $chosen:ident => $body:expr, $other:ident => $rest:expr) => {
        match $op {
            $($enum::$common => { const $chosen: $enum = $enum::$common; $body })+
            $other => $rest,
        }
    };
}

#[inline(always)]
fn unary_lanes(op: UnaryOp, a: &Lanes) -> Lanes {
    per_operation!(
        op,
        UnaryOp [
            Copy, AsFloat, AsBool, LogicalNot, INeg, BitNot, SAbs, FNeg, FAbs, Floor, Ceil, Trunc, RoundEven, Sqrt, FToS,
            FToU, SToF, UToF, IsNan, BitCount, FlushDenormal, FlushHalfDenormal
        ],
        CHOSEN => each(|lane| CHOSEN.apply(a[lane])),
        other => each(|lane| other.apply(a[lane]))
    )
}

#[inline(always)]
fn binary_lanes(op: BinaryOp, a: &Lanes, b: &Lanes) -> Lanes {
    per_operation!(
        op,
        BinaryOp [
            IAdd, ISub, IMul, SDot, UDot, SUDot, And, Or, Xor, Shl, ShrLogical, ShrArithmetic, SMin, SMax, UMin, UMax, IEq,
            INe, SLt, SLe, ULt, ULe, LogicalAnd, LogicalOr, LogicalEq, LogicalNe, FAdd, FSub, FMul, FDiv, FMin, FMax, FMinNum, FMaxNum, FEq, FNe,
            FLt, FLe
        ],
        CHOSEN => each(|lane| CHOSEN.apply(a[lane], b[lane])),
        other => each(|lane| other.apply(a[lane], b[lane]))
    )
}

#[inline(always)]
fn ternary_lanes(op: TernaryOp, a: &Lanes, b: &Lanes, c: &Lanes) -> Lanes {
    match op {
        TernaryOp::Fma => each(|lane| TernaryOp::Fma.apply(a[lane], b[lane], c[lane])),
        _ => each(|lane| TernaryOp::Select.apply(a[lane], b[lane], c[lane])),
    }
}

/// Returns quotient and remainder of 64-bit integers without a branch. Processors have vector
/// division only for floats. A divisor of 0 counts as 1.
///
/// Each step estimates the quotient in doubles and reduces it by more than the maximum error, so
/// that it is never too large. The relative error is below 2^-50. The remainder after the first
/// step has a quotient below 2^15, and the remainder after the second step a quotient below 2.
#[inline(always)]
fn divided(a: u64, b: u64) -> [u64; 2] {
    let divisor = b.max(1);
    let per = LESS_THAN_ONE / divisor as f64;
    let (mut quotient, mut rest) = (0u64, a);
    for _ in 0..2 {
        // SAFETY: the value is not NaN, at least 0, and less than 2^64. The remainder is less than
        // 2^64 and the factor is less than 1.
        let part: u64 = unsafe { (rest as f64 * per).to_int_unchecked() };
        quotient = quotient.wrapping_add(part);
        rest = rest.wrapping_sub(part.wrapping_mul(divisor));
    }
    let more = u64::from(rest >= divisor);
    [quotient.wrapping_add(more), rest.wrapping_sub(more * divisor)]
}

/// Returns the quotients or remainders that `op` asks for. A division by 0 yields all ones, or 0
/// as a signed quotient.
#[inline(always)]
fn divisions(op: WideOp, a: &[u64; WAVE], b: &[u64; WAVE]) -> [u64; WAVE] {
    let signs = u64::from(matches!(op, WideOp::SDiv | WideOp::SRem)).wrapping_neg();
    let rests = u64::from(matches!(op, WideOp::SRem | WideOp::UMod)).wrapping_neg();
    let of_zero = if op == WideOp::SDiv { 0 } else { u64::MAX };
    let negated = |number: u64, sign: u64| (number ^ sign).wrapping_sub(sign);
    let mut results = [0; WAVE];
    for lane in 0..WAVE {
        let (a, b) = (a[lane], b[lane]);
        let (of_a, of_b) = ((a as i64 >> 63) as u64 & signs, (b as i64 >> 63) as u64 & signs);
        let [quotient, rest] = divided(negated(a, of_a), negated(b, of_b));
        let result = negated(quotient, of_a ^ of_b) & !rests | negated(rest, of_a) & rests;
        results[lane] = if b == 0 { of_zero } else { result };
    }
    results
}

#[inline(always)]
fn wide_lanes(op: WideOp, operands: &[[&Lanes; 2]; 3]) -> [Lanes; 2] {
    let mut numbers = [[0; WAVE]; 3];
    for (numbers, [low, high]) in numbers.iter_mut().zip(operands) {
        for lane in 0..WAVE {
            numbers[lane] = u64::from(low[lane]) | u64::from(high[lane]) << 32;
        }
    }
    let [a, b, c] = &numbers;
    let results: [u64; WAVE] = match op {
        WideOp::SDiv | WideOp::UDiv | WideOp::SRem | WideOp::UMod => divisions(op, a, b),
        op => std::array::from_fn(|lane| op.apply([a[lane], b[lane], c[lane]])),
    };
    [each(|lane| results[lane] as u32), each(|lane| (results[lane] >> 32) as u32)]
}

#[inline(always)]
fn blend_lanes(mask: Mask, old: &mut Lanes, new: &Lanes) {
    for lane in 0..WAVE {
        let keep = (u32::from(mask) >> lane & 1).wrapping_sub(1);
        old[lane] = (old[lane] & keep) | (new[lane] & !keep);
    }
}

#[inline(always)]
fn nonzero_lanes(lanes: &Lanes) -> Mask {
    highest_bits(&each(|lane| ones(lanes[lane] != 0)))
}

pub(super) use per_operation;

kernel!(
    /// Computes `op(a)` in every lane. Derivatives yield 0 here because they need the whole quad.
    pub unary, unary_lanes, (op: UnaryOp, a: &Lanes) -> Lanes
);
kernel!(
    /// Computes `op(a, b)` in every lane.
    pub binary, binary_lanes, (op: BinaryOp, a: &Lanes, b: &Lanes) -> Lanes
);
kernel!(
    /// Computes `op(a, b, c)` in every lane.
    pub ternary, ternary_lanes, (op: TernaryOp, a: &Lanes, b: &Lanes, c: &Lanes) -> Lanes
);
kernel!(
    /// Computes `op` on 64-bit numbers in every lane. Operands and result are pairs of low and
    /// high words. Operands beyond those of the operation are ignored.
    pub wide, wide_lanes, (op: WideOp, operands: &[[&Lanes; 2]; 3]) -> [Lanes; 2]
);
kernel!(
    /// Replaces the lanes of `old` that are in `mask` by those of `new`.
    pub blend, blend_lanes, (mask: Mask, old: &mut Lanes, new: &Lanes)
);
kernel!(
    /// Returns the lanes that are not 0.
    pub nonzero, nonzero_lanes, (lanes: &Lanes) -> Mask
);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = u64> {
        let near = (0u32..64, -2i64..3).prop_map(|(bit, more)| (1u64 << bit).wrapping_add_signed(more));
        prop_oneof![near, any::<u64>(), (0u32..64, any::<u64>()).prop_map(|(bits, word)| word >> bits), 0u64..5]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn long_divisions_are_exact(a in number(), b in number(), factor in number()) {
            for a in [a, b.wrapping_mul(factor), b.wrapping_mul(factor).wrapping_sub(1)] {
                let words = |number: u64| [[number as u32; WAVE], [(number >> 32) as u32; WAVE]];
                let (x, y) = (words(a), words(b));
                for op in [WideOp::UDiv, WideOp::UMod, WideOp::SDiv, WideOp::SRem] {
                    let [low, high] = wide(op, &[x.each_ref(), y.each_ref(), x.each_ref()]);
                    let found = u64::from(low[3]) | u64::from(high[3]) << 32;
                    prop_assert_eq!(found, op.apply([a, b, 0]), "{:?} {} {}", op, a, b);
                }
            }
        }
    }

    /// Generates words of every kind: small integers, floats of every magnitude, NaN, infinities,
    /// and arbitrary bits.
    fn word() -> impl Strategy<Value = u32> {
        prop_oneof![
            0u32..40,
            any::<f32>().prop_map(f32::to_bits),
            (-100.0f32..100.0).prop_map(f32::to_bits),
            any::<u32>(),
            prop::sample::select(vec![0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x8000_0000, 0xffff_ffff, 0x7fff_ffff, 1]),
        ]
    }

    fn lanes() -> impl Strategy<Value = Lanes> {
        prop::array::uniform16(word())
    }

    /// Returns true if the bits are equal, or if both are NaN. The NaN that an operation on two
    /// NaNs returns is not defined.
    fn same(a: u32, b: u32, is_float: bool) -> bool {
        a == b || (is_float && f32::from_bits(a).is_nan() && f32::from_bits(b).is_nan())
    }

    proptest! {
        #[test]
        fn every_kernel_computes_what_the_folder_computes(a in lanes(), b in lanes(), c in lanes()) {
            use vitric_ir::Type;
            for &op in UnaryOp::ALL {
                let (all, baseline) = (unary(op, &a), unary_lanes(op, &a));
                for lane in 0..WAVE {
                    let expected = op.apply(a[lane]);
                    let is_float = op.result() == Type::F32;
                    prop_assert!(same(all[lane], expected, is_float), "{op:?} {:#x}: {:#x} {expected:#x}", a[lane], all[lane]);
                    prop_assert!(same(baseline[lane], expected, is_float), "{op:?} {:#x}", a[lane]);
                }
            }
            for &op in BinaryOp::ALL {
                let (all, baseline) = (binary(op, &a, &b), binary_lanes(op, &a, &b));
                for lane in 0..WAVE {
                    let expected = op.apply(a[lane], b[lane]);
                    let is_float = op.result() == Type::F32;
                    prop_assert!(same(all[lane], expected, is_float), "{op:?} {:#x} {:#x}", a[lane], b[lane]);
                    prop_assert!(same(baseline[lane], expected, is_float), "{op:?} {:#x} {:#x}", a[lane], b[lane]);
                }
            }
            for &op in TernaryOp::ALL {
                let (all, baseline) = (ternary(op, &a, &b, &c), ternary_lanes(op, &a, &b, &c));
                for lane in 0..WAVE {
                    let expected = op.apply(a[lane], b[lane], c[lane]);
                    let is_float = op.result() == Type::F32;
                    prop_assert!(same(all[lane], expected, is_float), "{op:?} {:#x} {:#x} {:#x}", a[lane], b[lane], c[lane]);
                    prop_assert!(same(baseline[lane], expected, is_float), "{op:?} {:#x}", a[lane]);
                }
            }
        }

        #[test]
        fn masks_and_blends_agree_with_lane_by_lane(mask in any::<u16>(), a in lanes(), b in lanes()) {
            let mut out = a;
            blend(mask, &mut out, &b);
            let picked: Lanes = std::array::from_fn(|lane| if mask >> lane & 1 != 0 { b[lane] } else { a[lane] });
            prop_assert_eq!(out, picked);
            let truth: Lanes = std::array::from_fn(|lane| u32::from(mask >> lane & 1) * 0x8000_0000);
            prop_assert_eq!(nonzero(&truth), mask);
        }
    }
}
