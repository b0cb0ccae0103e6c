//! Scalar operations and their results. The constant folder and the interpreter share this one
//! definition.
//!
//! Every operation is primitive: a code generator has a short sequence of instructions for it.
//! Other routines are written with these operations (see `elementary`). Source: SPIR-V
//! specification, "Arithmetic", "Bit", "Relational" instructions; GLSL.std.450.
//!
//! - Floats are IEEE single precision, and every operation rounds separately.
//! - Unsigned quotients and all remainders by zero have all bits set. A signed quotient by zero is
//!   0.
//! - Shifts by 32 or more give 0, or copies of the sign for arithmetic shifts.
//! - Conversions to integers saturate, and NaN gives 0.
//! - `FMin` is `b < a ? b : a` and `FMax` is `a < b ? b : a`. NaN on either side gives `a`.
//! - `FlushDenormal` returns a zero of equal sign for a denormal float. `FlushHalfDenormal` returns
//!   one for a float whose magnitude is less than the least normal half, [`LEAST_HALF`].
//! - `FMinNum` and `FMaxNum` return the other operand if one operand is NaN. They return `b` if
//!   the operands are equal.
//! - Comparisons of floats are ordered, except `FNe`.

use std::ops::{Add, BitAnd, BitOr, BitXor};

use super::Type;
use super::operands::named;

/// Bits of the least normal half, 2^-14, as a single-precision float.
pub const LEAST_HALF: u32 = 0x3880_0000;

/// Bits of the least normal single-precision float.
pub const LEAST_SINGLE: u32 = 0x0080_0000;

macro_rules! operations {
    ($(#[$doc:meta])* $Name:ident, $arity:literal { $($Op:ident: $result:ident,)* }) => {
        named! {
            $(#[$doc])*
            #[expect(missing_docs, reason = "the names are SPIR-V's and GLSL.std.450's")]
            $Name "no such operation" { $($Op,)* }
        }

        impl $Name {
            /// Number of operands.
            pub const ARITY: usize = $arity;

            /// Returns the type of the result.
            pub const fn result(self) -> Type {
                match self { $(Self::$Op => Type::$result,)* }
            }
        }
    };
}

operations! {
    /// Operation on one word.
    UnaryOp, 1 {
        Copy: I32, AsFloat: F32, AsBool: Bool, LogicalNot: Bool, INeg: I32, BitNot: I32, SAbs: I32, BitCount: I32,
        FNeg: F32, FAbs: F32, Floor: F32, Ceil: F32, Trunc: F32, RoundEven: F32, Sqrt: F32,
        FToS: I32, FToU: I32, SToF: F32, UToF: F32, HalfToFloat: F32, FloatToHalf: I32, IsNan: Bool,
        FlushDenormal: F32, FlushHalfDenormal: F32,
        DdxFine: F32, DdyFine: F32, DdxCoarse: F32, DdyCoarse: F32,
    }
}

operations! {
    /// Operation on two words.
    BinaryOp, 2 {
        IAdd: I32, ISub: I32, IMul: I32, SDiv: I32, UDiv: I32, SRem: I32, UMod: I32, UMulHi: I32, SMulHi: I32,
        SDot: I32, UDot: I32, SUDot: I32,
        And: I32, Or: I32, Xor: I32, Shl: I32, ShrLogical: I32, ShrArithmetic: I32,
        SMin: I32, SMax: I32, UMin: I32, UMax: I32,
        IEq: Bool, INe: Bool, SLt: Bool, SLe: Bool, ULt: Bool, ULe: Bool,
        LogicalAnd: Bool, LogicalOr: Bool, LogicalEq: Bool, LogicalNe: Bool,
        FAdd: F32, FSub: F32, FMul: F32, FDiv: F32, FMin: F32, FMax: F32, FMinNum: F32, FMaxNum: F32,
        FEq: Bool, FNe: Bool, FLt: Bool, FLe: Bool,
    }
}

operations! {
    /// Operation on three words.
    TernaryOp, 3 {
        Select: I32, SelectFloat: F32, SelectBool: Bool, Fma: F32,
    }
}

named! {
    /// Atomic read-modify-write operation. `FMin` and `FMax` store the other operand if one operand
    /// is NaN.
    #[expect(missing_docs, reason = "the names are SPIR-V's")]
    AtomicOp "no such atomic" {
        Load, Store, Exchange, CompareExchange, Add, Sub, SMin, UMin, SMax, UMax, And, Or, Xor, FAdd, FMin, FMax,
    }
}

/// Bits that an atomic operation changes: `u32` or `u64`.
pub trait AtomicWord:
    Copy + Ord + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Sized
{
    /// Signed integer of this size.
    type Signed: Ord;
    /// Float of this size.
    type Float: Copy + PartialOrd + Add<Output = Self::Float>;

    /// Returns the sum modulo the size.
    fn wrapping_add(self, other: Self) -> Self;
    /// Returns the difference modulo the size.
    fn wrapping_sub(self, other: Self) -> Self;
    /// Reinterprets the bits as a signed integer.
    fn signed(self) -> Self::Signed;
    /// Reinterprets the bits as a float.
    fn float(self) -> Self::Float;
    /// Returns the bits of a float.
    fn from_float(float: Self::Float) -> Self;
}

macro_rules! atomic_words {
    ($($Word:ident $Signed:ident $Float:ident;)*) => {
        $(impl AtomicWord for $Word {
            type Signed = $Signed;
            type Float = $Float;

            #[inline(always)]
            fn wrapping_add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn wrapping_sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn signed(self) -> $Signed {
                self as $Signed
            }

            #[inline(always)]
            fn float(self) -> $Float {
                $Float::from_bits(self)
            }

            #[inline(always)]
            fn from_float(float: $Float) -> Self {
                float.to_bits()
            }
        })*
    };
}

atomic_words! { u32 i32 f32; u64 i64 f64; }

impl AtomicOp {
    /// Returns the bits to store for previous bits `old`. Returns `None` if memory does not
    /// change.
    #[inline(always)]
    pub fn apply<W: AtomicWord>(self, old: W, value: W, comparator: W) -> Option<W> {
        let keep_if = |keep: bool| if keep { old } else { value };
        // Only NaN differs from itself.
        let is_nan = |word: W| word.float().partial_cmp(&word.float()).is_none();
        Some(match self {
            Self::Load => return None,
            Self::Store | Self::Exchange => value,
            Self::CompareExchange => return (old == comparator).then_some(value),
            Self::Add => old.wrapping_add(value),
            Self::Sub => old.wrapping_sub(value),
            Self::SMin => keep_if(old.signed() < value.signed()),
            Self::UMin => old.min(value),
            Self::SMax => keep_if(old.signed() > value.signed()),
            Self::UMax => old.max(value),
            Self::And => old & value,
            Self::Or => old | value,
            Self::Xor => old ^ value,
            Self::FAdd => W::from_float(old.float() + value.float()),
            Self::FMin => keep_if(is_nan(value) || old.float() < value.float()),
            Self::FMax => keep_if(is_nan(value) || old.float() > value.float()),
        })
    }
}

#[inline(always)]
fn f(word: u32) -> f32 {
    f32::from_bits(word)
}

#[inline(always)]
fn float(apply: impl Fn(f32) -> f32, a: u32) -> u32 {
    apply(f(a)).to_bits()
}

/// Returns a zero of equal sign for a float whose magnitude is less than that with bits `least`.
#[inline(always)]
fn flushed(a: u32, least: u32) -> u32 {
    if a & 0x7fff_ffff < least { a & 0x8000_0000 } else { a }
}

/// Applies a rounding function. Processors turn a signalling NaN into a quiet one, but the host's
/// functions may not.
#[inline(always)]
fn rounded(round: impl Fn(f32) -> f32, a: u32) -> u32 {
    if f(a).is_nan() { a | 0x0040_0000 } else { float(round, a) }
}

impl UnaryOp {
    /// Returns true if the result depends on other lanes of the quad.
    pub const fn is_derivative(self) -> bool {
        matches!(self, Self::DdxFine | Self::DdyFine | Self::DdxCoarse | Self::DdyCoarse)
    }

    /// Computes the result for one lane. Derivatives are 0 here, because they need the quad.
    #[inline(always)]
    pub fn apply(self, a: u32) -> u32 {
        match self {
            Self::Copy | Self::AsFloat => a,
            Self::AsBool => u32::from(a != 0),
            Self::LogicalNot => a ^ 1,
            Self::INeg => a.wrapping_neg(),
            Self::BitNot => !a,
            Self::SAbs => (a as i32).wrapping_abs() as u32,
            Self::BitCount => a.count_ones(),
            Self::FNeg => a ^ 0x8000_0000,
            Self::FAbs => a & 0x7fff_ffff,
            Self::DdxFine | Self::DdyFine | Self::DdxCoarse | Self::DdyCoarse => 0,
            Self::FToS => f(a) as i32 as u32,
            Self::FToU => f(a) as u32,
            Self::SToF => (a as i32 as f32).to_bits(),
            Self::UToF => (a as f32).to_bits(),
            Self::HalfToFloat => vitric_format::half_to_f32(a & 0xffff).to_bits(),
            Self::FloatToHalf => vitric_format::f32_to_half(f(a)),
            Self::IsNan => u32::from(f(a).is_nan()),
            Self::FlushDenormal => flushed(a, LEAST_SINGLE),
            Self::FlushHalfDenormal => flushed(a, LEAST_HALF),
            Self::Floor => rounded(f32::floor, a),
            Self::Ceil => rounded(f32::ceil, a),
            Self::Trunc => rounded(f32::trunc, a),
            Self::RoundEven => rounded(f32::round_ties_even, a),
            Self::Sqrt => float(f32::sqrt, a),
        }
    }
}

/// Returns the sum of the four products of the bytes of two dwords, which are signed or not.
#[inline(always)]
fn dot(a: u32, b: u32, (is_a_signed, is_b_signed): (bool, bool)) -> u32 {
    let byte = |word: u32, at: u32, is_signed: bool| {
        let byte = (word >> (8 * at)) as u8;
        if is_signed { byte as i8 as u32 } else { byte.into() }
    };
    (0..4).fold(0u32, |sum, at| sum.wrapping_add(byte(a, at, is_a_signed).wrapping_mul(byte(b, at, is_b_signed))))
}

impl BinaryOp {
    /// Returns true if the first and the second operand are signed, for the dot products of four
    /// bytes.
    pub const fn dot_signs(self) -> Option<(bool, bool)> {
        match self {
            Self::SDot => Some((true, true)),
            Self::UDot => Some((false, false)),
            Self::SUDot => Some((true, false)),
            _ => None,
        }
    }

    /// Computes the result for one lane.
    #[inline(always)]
    pub fn apply(self, a: u32, b: u32) -> u32 {
        let (sa, sb) = (a as i32, b as i32);
        match self {
            Self::IAdd => a.wrapping_add(b),
            Self::ISub => a.wrapping_sub(b),
            Self::IMul => a.wrapping_mul(b),
            Self::SDiv => {
                if b == 0 {
                    0
                } else {
                    sa.wrapping_div(sb) as u32
                }
            }
            Self::UDiv => a.checked_div(b).unwrap_or(u32::MAX),
            Self::SRem => {
                if b == 0 {
                    u32::MAX
                } else {
                    sa.wrapping_rem(sb) as u32
                }
            }
            Self::UMod => a.checked_rem(b).unwrap_or(u32::MAX),
            Self::UMulHi => ((u64::from(a) * u64::from(b)) >> 32) as u32,
            Self::SMulHi => ((i64::from(sa) * i64::from(sb)) >> 32) as u32,
            Self::SDot => dot(a, b, (true, true)),
            Self::UDot => dot(a, b, (false, false)),
            Self::SUDot => dot(a, b, (true, false)),
            Self::And | Self::LogicalAnd => a & b,
            Self::Or | Self::LogicalOr => a | b,
            Self::Xor | Self::LogicalNe => a ^ b,
            Self::LogicalEq => u32::from(a == b),
            Self::Shl => a.checked_shl(b).unwrap_or(0),
            Self::ShrLogical => a.checked_shr(b).unwrap_or(0),
            Self::ShrArithmetic => (sa >> b.min(31)) as u32,
            Self::SMin => sa.min(sb) as u32,
            Self::SMax => sa.max(sb) as u32,
            Self::UMin => a.min(b),
            Self::UMax => a.max(b),
            Self::IEq => u32::from(a == b),
            Self::INe => u32::from(a != b),
            Self::SLt => u32::from(sa < sb),
            Self::SLe => u32::from(sa <= sb),
            Self::ULt => u32::from(a < b),
            Self::ULe => u32::from(a <= b),
            Self::FEq => u32::from(f(a) == f(b)),
            Self::FNe => u32::from(f(a) != f(b)),
            Self::FLt => u32::from(f(a) < f(b)),
            Self::FLe => u32::from(f(a) <= f(b)),
            _ => self.apply_float(f(a), f(b)).to_bits(),
        }
    }

    #[inline(always)]
    fn apply_float(self, a: f32, b: f32) -> f32 {
        match self {
            Self::FAdd => a + b,
            Self::FSub => a - b,
            Self::FMul => a * b,
            Self::FDiv => a / b,
            Self::FMin => {
                if b < a {
                    b
                } else {
                    a
                }
            }
            Self::FMax => {
                if a < b {
                    b
                } else {
                    a
                }
            }
            Self::FMinNum => {
                if b.is_nan() || a < b {
                    a
                } else {
                    b
                }
            }
            Self::FMaxNum => {
                if b.is_nan() || b < a {
                    a
                } else {
                    b
                }
            }
            _ => a,
        }
    }
}

impl TernaryOp {
    /// Computes the result for one lane.
    #[inline(always)]
    pub fn apply(self, a: u32, b: u32, c: u32) -> u32 {
        match self {
            Self::Select | Self::SelectFloat | Self::SelectBool => {
                if a != 0 {
                    b
                } else {
                    c
                }
            }
            Self::Fma => f(a).mul_add(f(b), f(c)).to_bits(),
        }
    }
}
