//! Operations on 64-bit numbers that have no short sequence of 32-bit operations. Generated code
//! or the runtime computes them on whole 64-bit numbers.
//!
//! Floats are IEEE double precision, and every operation rounds separately. A signed quotient by
//! zero is 0. An unsigned quotient by zero and all remainders by zero have all bits set.
//! Conversions to integers saturate, and NaN gives 0. `FMin` and `FMax` treat NaN as the
//! operations on single floats do. `FlushDenormal` returns a zero of equal sign for a denormal
//! float.

use super::operands::named;

/// Factor just below 1. Its difference from 1 exceeds the relative error of a quotient of doubles.
pub const LESS_THAN_ONE: f64 = 1.0 - 4.0 * f64::EPSILON;

/// Exponent bits of a double. They are 0 in zeros and denormals only.
const EXPONENT: u64 = 0x7ff0_0000_0000_0000;

named! {
    /// Operation on 64-bit numbers.
    #[expect(missing_docs, reason = "the names are those of the operations on words; conversions name both sides")]
    WideOp "no such wide operation" {
        FAdd, FSub, FMul, FDiv, FMin, FMax, Fma, Sqrt, Floor, Ceil, Trunc, RoundEven, FEq, FNe, FLt, FLe,
        FlushDenormal,
        SDiv, UDiv, SRem, UMod,
        F32ToF64, F64ToF32, S64ToF64, U64ToF64, S64ToF32, U64ToF32, F64ToS64, F64ToU64,
    }
}

impl WideOp {
    /// Returns true if the result is a boolean.
    pub const fn is_comparison(self) -> bool {
        matches!(self, Self::FEq | Self::FNe | Self::FLt | Self::FLe)
    }

    /// Returns the total number of operand words and the number of result words.
    pub const fn shape(self) -> (u32, u32) {
        match self {
            Self::Fma => (6, 2),
            Self::F32ToF64 => (1, 2),
            Self::F64ToF32 | Self::S64ToF32 | Self::U64ToF32 => (2, 1),
            Self::Sqrt | Self::Floor | Self::Ceil | Self::Trunc | Self::RoundEven | Self::FlushDenormal => (2, 2),
            Self::S64ToF64 | Self::U64ToF64 | Self::F64ToS64 | Self::F64ToU64 => (2, 2),
            _ if self.is_comparison() => (4, 1),
            _ => (4, 2),
        }
    }

    /// Computes the result of operands. 32-bit operands and results are extended with zeros.
    #[inline(always)]
    pub fn apply(self, [a, b, c]: [u64; 3]) -> u64 {
        let (x, y) = (f64::from_bits(a), f64::from_bits(b));
        match self {
            Self::FEq => u64::from(x == y),
            Self::FNe => u64::from(x != y),
            Self::FLt => u64::from(x < y),
            Self::FLe => u64::from(x <= y),
            Self::SDiv if b == 0 => 0,
            Self::SDiv => (a as i64).wrapping_div(b as i64) as u64,
            Self::UDiv => a.checked_div(b).unwrap_or(u64::MAX),
            Self::SRem if b == 0 => u64::MAX,
            Self::SRem => (a as i64).wrapping_rem(b as i64) as u64,
            Self::UMod => a.checked_rem(b).unwrap_or(u64::MAX),
            Self::FlushDenormal if a & EXPONENT == 0 => a & 1 << 63,
            Self::FlushDenormal => a,
            Self::F32ToF64 => f64::from(f32::from_bits(a as u32)).to_bits(),
            Self::F64ToF32 => u64::from((x as f32).to_bits()),
            Self::S64ToF64 => (a as i64 as f64).to_bits(),
            Self::U64ToF64 => (a as f64).to_bits(),
            Self::S64ToF32 => u64::from((a as i64 as f32).to_bits()),
            Self::U64ToF32 => u64::from((a as f32).to_bits()),
            Self::F64ToS64 => x as i64 as u64,
            Self::F64ToU64 => x as u64,
            _ => self.apply_float(x, y, f64::from_bits(c)).to_bits(),
        }
    }

    #[inline(always)]
    fn apply_float(self, x: f64, y: f64, z: f64) -> f64 {
        match self {
            Self::FAdd => x + y,
            Self::FSub => x - y,
            Self::FMul => x * y,
            Self::FDiv => x / y,
            Self::FMin if y < x => y,
            Self::FMax if x < y => y,
            Self::Fma => x.mul_add(y, z),
            Self::Sqrt => x.sqrt(),
            // Processors turn a signalling NaN into a quiet one, but the host's functions may not.
            Self::Floor | Self::Ceil | Self::Trunc | Self::RoundEven if x.is_nan() => {
                f64::from_bits(x.to_bits() | 1 << 51)
            }
            Self::Floor => x.floor(),
            Self::Ceil => x.ceil(),
            Self::Trunc => x.trunc(),
            Self::RoundEven => x.round_ties_even(),
            _ => x,
        }
    }

    /// Computes the result for operands in the form of an instruction's words.
    pub fn apply_words(self, words: &[u32]) -> [u32; 2] {
        let pair = |index: usize| {
            let word = |at: usize| u64::from(words.get(at).copied().unwrap_or(0));
            word(2 * index) | word(2 * index + 1) << 32
        };
        let result = self.apply([pair(0), pair(1), pair(2)]);
        [result as u32, (result >> 32) as u32]
    }
}
