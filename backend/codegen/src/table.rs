//! Tables of the encodings of operations on each target.

use iced_x86::Code;
use vitric_ir::{BinaryOp, UnaryOp};

use super::Target;

/// Operation on vectors. Its operands are the destination and one or two sources, of which the
/// last may be in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum V {
    AddF,
    SubF,
    MulF,
    DivF,
    MinF,
    MaxF,
    SqrtF,
    AddI,
    SubI,
    MulI,
    And,
    AndNot,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    ShiftRightSigned,
    MinS,
    MaxS,
    MinU,
    MaxU,
    AbsI,
    IntToFloat,
    FloatToInt,
    MulEvenU,
    MulEvenS,
    /// Fused multiply-adds, whose destination is also a factor (213) or the addend (231). See
    /// `lower::arithmetic`.
    Fma213,
    Fma231,
    AddD,
    SubD,
    MulD,
    DivD,
    MinD,
    MaxD,
    SqrtD,
    Fma213D,
    /// Interleavings of the low and high dwords of 64-bit numbers within each group of four lanes:
    /// the first two lanes (`Low`) or the last two (`High`).
    InterleaveLow,
    InterleaveHigh,
    DoubleToFloat,
}

impl V {
    /// Returns the encoding of the operation on `target`.
    pub fn code(self, target: Target) -> Code {
        match target {
            Target::Avx512 => self.evex(),
            Target::Avx2 => self.vex(),
        }
    }

    fn evex(self) -> Code {
        match self {
            Self::AddF => Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er,
            Self::SubF => Code::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er,
            Self::MulF => Code::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er,
            Self::DivF => Code::EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er,
            Self::MinF => Code::EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae,
            Self::MaxF => Code::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae,
            Self::SqrtF => Code::EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er,
            Self::AddI => Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32,
            Self::SubI => Code::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32,
            Self::MulI => Code::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32,
            Self::And => Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32,
            Self::AndNot => Code::EVEX_Vpandnd_zmm_k1z_zmm_zmmm512b32,
            Self::Or => Code::EVEX_Vpord_zmm_k1z_zmm_zmmm512b32,
            Self::Xor => Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32,
            Self::ShiftLeft => Code::EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32,
            Self::ShiftRight => Code::EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32,
            Self::ShiftRightSigned => Code::EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32,
            Self::MinS => Code::EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32,
            Self::MaxS => Code::EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32,
            Self::MinU => Code::EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32,
            Self::MaxU => Code::EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32,
            Self::AbsI => Code::EVEX_Vpabsd_zmm_k1z_zmmm512b32,
            Self::IntToFloat => Code::EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er,
            Self::FloatToInt => Code::EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae,
            Self::MulEvenU => Code::EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64,
            Self::MulEvenS => Code::EVEX_Vpmuldq_zmm_k1z_zmm_zmmm512b64,
            Self::Fma213 => Code::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
            Self::Fma231 => Code::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
            Self::AddD => Code::EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er,
            Self::SubD => Code::EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er,
            Self::MulD => Code::EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er,
            Self::DivD => Code::EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er,
            Self::MinD => Code::EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae,
            Self::MaxD => Code::EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae,
            Self::SqrtD => Code::EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er,
            Self::Fma213D => Code::EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
            Self::InterleaveLow => Code::EVEX_Vunpcklps_zmm_k1z_zmm_zmmm512b32,
            Self::InterleaveHigh => Code::EVEX_Vunpckhps_zmm_k1z_zmm_zmmm512b32,
            Self::DoubleToFloat => Code::EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er,
        }
    }

    fn vex(self) -> Code {
        match self {
            Self::AddF => Code::VEX_Vaddps_ymm_ymm_ymmm256,
            Self::SubF => Code::VEX_Vsubps_ymm_ymm_ymmm256,
            Self::MulF => Code::VEX_Vmulps_ymm_ymm_ymmm256,
            Self::DivF => Code::VEX_Vdivps_ymm_ymm_ymmm256,
            Self::MinF => Code::VEX_Vminps_ymm_ymm_ymmm256,
            Self::MaxF => Code::VEX_Vmaxps_ymm_ymm_ymmm256,
            Self::SqrtF => Code::VEX_Vsqrtps_ymm_ymmm256,
            Self::AddI => Code::VEX_Vpaddd_ymm_ymm_ymmm256,
            Self::SubI => Code::VEX_Vpsubd_ymm_ymm_ymmm256,
            Self::MulI => Code::VEX_Vpmulld_ymm_ymm_ymmm256,
            Self::And => Code::VEX_Vpand_ymm_ymm_ymmm256,
            Self::AndNot => Code::VEX_Vpandn_ymm_ymm_ymmm256,
            Self::Or => Code::VEX_Vpor_ymm_ymm_ymmm256,
            Self::Xor => Code::VEX_Vpxor_ymm_ymm_ymmm256,
            Self::ShiftLeft => Code::VEX_Vpsllvd_ymm_ymm_ymmm256,
            Self::ShiftRight => Code::VEX_Vpsrlvd_ymm_ymm_ymmm256,
            Self::ShiftRightSigned => Code::VEX_Vpsravd_ymm_ymm_ymmm256,
            Self::MinS => Code::VEX_Vpminsd_ymm_ymm_ymmm256,
            Self::MaxS => Code::VEX_Vpmaxsd_ymm_ymm_ymmm256,
            Self::MinU => Code::VEX_Vpminud_ymm_ymm_ymmm256,
            Self::MaxU => Code::VEX_Vpmaxud_ymm_ymm_ymmm256,
            Self::AbsI => Code::VEX_Vpabsd_ymm_ymmm256,
            Self::IntToFloat => Code::VEX_Vcvtdq2ps_ymm_ymmm256,
            Self::FloatToInt => Code::VEX_Vcvttps2dq_ymm_ymmm256,
            Self::MulEvenU => Code::VEX_Vpmuludq_ymm_ymm_ymmm256,
            Self::MulEvenS => Code::VEX_Vpmuldq_ymm_ymm_ymmm256,
            Self::Fma213 => Code::VEX_Vfmadd213ps_ymm_ymm_ymmm256,
            Self::Fma231 => Code::VEX_Vfmadd231ps_ymm_ymm_ymmm256,
            Self::AddD => Code::VEX_Vaddpd_ymm_ymm_ymmm256,
            Self::SubD => Code::VEX_Vsubpd_ymm_ymm_ymmm256,
            Self::MulD => Code::VEX_Vmulpd_ymm_ymm_ymmm256,
            Self::DivD => Code::VEX_Vdivpd_ymm_ymm_ymmm256,
            Self::MinD => Code::VEX_Vminpd_ymm_ymm_ymmm256,
            Self::MaxD => Code::VEX_Vmaxpd_ymm_ymm_ymmm256,
            Self::SqrtD => Code::VEX_Vsqrtpd_ymm_ymmm256,
            Self::Fma213D => Code::VEX_Vfmadd213pd_ymm_ymm_ymmm256,
            Self::InterleaveLow => Code::VEX_Vunpcklps_ymm_ymm_ymmm256,
            Self::InterleaveHigh => Code::VEX_Vunpckhps_ymm_ymm_ymmm256,
            Self::DoubleToFloat => Code::VEX_Vcvtpd2ps_xmm_ymmm256,
        }
    }
}

/// Shift of all lanes by an immediate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shift {
    /// Shift left in 32-bit elements.
    Left,
    /// Logical shift right in 32-bit elements.
    Right,
    /// Arithmetic shift right in 32-bit elements.
    RightSigned,
    /// Shift left in 64-bit elements.
    Left64,
    /// Logical shift right in 64-bit elements.
    Right64,
}

impl Shift {
    /// Returns the encoding of the shift on `target`.
    pub fn code(self, target: Target) -> Code {
        match (self, target) {
            (Self::Left, Target::Avx512) => Code::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8,
            (Self::Right, Target::Avx512) => Code::EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8,
            (Self::RightSigned, Target::Avx512) => Code::EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8,
            (Self::Left64, Target::Avx512) => Code::EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8,
            (Self::Right64, Target::Avx512) => Code::EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8,
            (Self::Left, Target::Avx2) => Code::VEX_Vpslld_ymm_ymm_imm8,
            (Self::Right, Target::Avx2) => Code::VEX_Vpsrld_ymm_ymm_imm8,
            (Self::RightSigned, Target::Avx2) => Code::VEX_Vpsrad_ymm_ymm_imm8,
            (Self::Left64, Target::Avx2) => Code::VEX_Vpsllq_ymm_ymm_imm8,
            (Self::Right64, Target::Avx2) => Code::VEX_Vpsrlq_ymm_ymm_imm8,
        }
    }
}

/// Returns the vector instruction of a binary operation, if it is a single one. The flag is true
/// if the operands must be swapped.
pub fn binary(op: BinaryOp) -> Option<(V, bool)> {
    Some(match op {
        BinaryOp::IAdd => (V::AddI, false),
        BinaryOp::ISub => (V::SubI, false),
        BinaryOp::IMul => (V::MulI, false),
        BinaryOp::And => (V::And, false),
        BinaryOp::Or => (V::Or, false),
        BinaryOp::Xor => (V::Xor, false),
        BinaryOp::Shl => (V::ShiftLeft, false),
        BinaryOp::ShrLogical => (V::ShiftRight, false),
        BinaryOp::ShrArithmetic => (V::ShiftRightSigned, false),
        BinaryOp::SMin => (V::MinS, false),
        BinaryOp::SMax => (V::MaxS, false),
        BinaryOp::UMin => (V::MinU, false),
        BinaryOp::UMax => (V::MaxU, false),
        BinaryOp::FAdd => (V::AddF, false),
        BinaryOp::FSub => (V::SubF, false),
        BinaryOp::FMul => (V::MulF, false),
        BinaryOp::FDiv => (V::DivF, false),
        // `minps b, a` computes `b < a ? b : a`.
        BinaryOp::FMin => (V::MinF, true),
        BinaryOp::FMax => (V::MaxF, true),
        _ => return None,
    })
}

/// Returns true if the sources of a vector operation may be swapped.
pub fn commutes(op: V) -> bool {
    matches!(
        op,
        V::AddI | V::MulI | V::And | V::Or | V::Xor | V::MinS | V::MaxS | V::MinU | V::MaxU | V::AddF | V::MulF
    )
}

/// Returns the vector instruction of a unary operation, if it is a single one.
pub fn unary(op: UnaryOp) -> Option<V> {
    Some(match op {
        UnaryOp::SAbs => V::AbsI,
        UnaryOp::Sqrt => V::SqrtF,
        UnaryOp::SToF => V::IntToFloat,
        _ => return None,
    })
}

/// Comparison predicate of `vcmpps` or `vpcmpd`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    /// Comparison of floats, with the predicate of `vcmpps`.
    Float(i32),
    /// Comparison of signed integers.
    Signed(Order),
    /// Comparison of unsigned integers.
    Unsigned(Order),
}

impl Compare {
    /// Returns the negated comparison for floats; other comparisons are returned unchanged. Bit 2
    /// of a `vcmpps` predicate negates it, also for NaN operands.
    pub fn opposite(self) -> Self {
        if let Self::Float(predicate) = self { Self::Float(predicate ^ 4) } else { self }
    }
}

/// Order of two integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
}

impl Order {
    /// Returns the predicate of `vpcmpd`.
    pub fn predicate(self) -> i32 {
        match self {
            Self::Equal => 0,
            Self::Less => 1,
            Self::LessOrEqual => 2,
            Self::NotEqual => 4,
        }
    }
}

/// `vcmpps` predicate: ordered and equal.
pub const EQUAL_ORDERED: i32 = 0;
/// `vcmpps` predicate: ordered and less.
pub const LESS: i32 = 17;
/// `vcmpps` predicate: ordered and less or equal.
pub const LESS_OR_EQUAL: i32 = 18;
/// `vcmpps` predicate: unordered or not equal.
pub const NOT_EQUAL: i32 = 4;
/// `vcmpps` predicate: unordered.
pub const UNORDERED: i32 = 3;
/// `vcmpps` predicate: ordered.
pub const ORDERED: i32 = 7;
/// `vcmpps` predicate: ordered and greater or equal.
pub const GREATER_OR_EQUAL: i32 = 29;

/// Returns the comparison of a binary operation, if it is one.
pub fn comparison(op: BinaryOp) -> Option<Compare> {
    Some(match op {
        BinaryOp::IEq => Compare::Signed(Order::Equal),
        BinaryOp::INe => Compare::Signed(Order::NotEqual),
        BinaryOp::SLt => Compare::Signed(Order::Less),
        BinaryOp::SLe => Compare::Signed(Order::LessOrEqual),
        BinaryOp::ULt => Compare::Unsigned(Order::Less),
        BinaryOp::ULe => Compare::Unsigned(Order::LessOrEqual),
        BinaryOp::FEq => Compare::Float(EQUAL_ORDERED),
        BinaryOp::FNe => Compare::Float(NOT_EQUAL),
        BinaryOp::FLt => Compare::Float(LESS),
        BinaryOp::FLe => Compare::Float(LESS_OR_EQUAL),
        _ => return None,
    })
}

/// Returns the instruction that sets a byte to the result of a comparison of general registers.
pub fn set(compare: Compare) -> Code {
    match compare {
        Compare::Signed(Order::Less) => Code::Setl_rm8,
        Compare::Signed(Order::LessOrEqual) => Code::Setle_rm8,
        Compare::Unsigned(Order::Less) => Code::Setb_rm8,
        Compare::Unsigned(Order::LessOrEqual) => Code::Setbe_rm8,
        Compare::Signed(Order::NotEqual) | Compare::Unsigned(Order::NotEqual) => Code::Setne_rm8,
        _ => Code::Sete_rm8,
    }
}

/// Returns the conditional jump that is taken if a comparison of general registers holds.
pub fn jump(compare: Compare) -> Code {
    match compare {
        Compare::Signed(Order::Less) => Code::Jl_rel32_64,
        Compare::Signed(Order::LessOrEqual) => Code::Jle_rel32_64,
        Compare::Unsigned(Order::Less) => Code::Jb_rel32_64,
        Compare::Unsigned(Order::LessOrEqual) => Code::Jbe_rel32_64,
        Compare::Signed(Order::NotEqual) | Compare::Unsigned(Order::NotEqual) => Code::Jne_rel32_64,
        _ => Code::Je_rel32_64,
    }
}
