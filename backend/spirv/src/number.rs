//! Scalars of all widths: their representation in the IR and the operations on them.
//!
//! The IR has 32-bit and 64-bit values. A narrower integer is a dword whose upper bits are 0,
//! whether signed or not. A float of at most 16 bits is the single-precision float of equal value.
//!
//! An operation on narrow numbers is the 32-bit operation. Signed operands are extended first. The
//! result is converted back to a value of the type: upper bits are cleared, or it is rounded to a
//! half.

use spirv::{GlslStd450Op as G, Op};
use vitric_ir::{BinaryOp as B, Builder, Type, UnaryOp as U, Value, WideOp, elementary as r};

use super::scalar;
use crate::encoding::Encoding;
use crate::module::{MatrixIds, Module, Ty};
use crate::{Error, Result};

/// Scalar type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Number {
    Bool,
    /// An integer of 8, 16, 32 or 64 bits. Signedness belongs to operations, not types.
    Int(u32),
    /// A float of IEEE 754, of 16, 32 or 64 bits.
    Float(u32),
    /// A narrow float of another encoding.
    Encoded(Encoding),
}

impl Number {
    /// Returns the scalar type of a scalar, vector or matrix type, or of a pointer that is a
    /// value.
    pub(crate) fn of(module: &Module, ty: u32) -> Result<Self> {
        // A malicious vector may be its own component. Two steps suffice for a matrix.
        let mut ty = module.ty(ty)?;
        for _ in 0..2 {
            if let Ty::Vector(part, _) | Ty::Matrix(part, _) | Ty::Cooperative(MatrixIds { component: part, .. }) = ty {
                ty = module.ty(*part)?;
            }
        }
        match ty {
            Ty::Bool => Ok(Self::Bool),
            Ty::Int(bits) => Ok(Self::Int(*bits)),
            Ty::Float(bits) => Ok(Self::Float(*bits)),
            Ty::Encoded(encoding) => Ok(Self::Encoded(*encoding)),
            Ty::Pointer(..) | Ty::UntypedPointer(_) => Ok(Self::Int(64)),
            _ => Err(Error::Malformed("not a scalar type")),
        }
    }

    /// Returns the type of the IR.
    pub(crate) fn ir(self) -> Type {
        match self {
            Self::Bool => Type::Bool,
            Self::Int(64) => Type::I64,
            Self::Int(_) => Type::I32,
            Self::Float(64) => Type::F64,
            Self::Float(_) | Self::Encoded(_) => Type::F32,
        }
    }

    /// Returns the size in memory in bytes.
    pub(crate) fn bytes(self) -> u32 {
        match self {
            Self::Bool => 4,
            Self::Int(bits) | Self::Float(bits) => bits / 8,
            Self::Encoded(encoding) => encoding.bytes(),
        }
    }

    fn is_narrow(self) -> bool {
        matches!(self, Self::Int(8 | 16) | Self::Float(16) | Self::Encoded(_))
    }

    /// Returns the bits of a literal or constant in the representation of the IR.
    pub(crate) fn canonical(self, bits: u64) -> u64 {
        match self {
            Self::Bool => u64::from(bits != 0),
            Self::Int(64) | Self::Float(64) => bits,
            Self::Float(16) => u64::from(vitric_format::half_to_f32(bits as u32 & 0xffff).to_bits()),
            Self::Encoded(encoding) => encoding.value_of(bits as u32),
            Self::Int(32) | Self::Float(_) => bits & 0xffff_ffff,
            Self::Int(width) => bits & ((1 << width) - 1),
        }
    }
}

/// Converts the result of a 32-bit operation back to a value of a narrow type.
pub(crate) fn narrow(b: &mut Builder, value: Value, to: Number) -> Value {
    match to {
        Number::Int(bits @ (8 | 16)) => {
            let mask = b.int((1 << bits) - 1);
            b.binary(B::And, value, mask)
        }
        Number::Float(16) => {
            let half = b.unary(U::FloatToHalf, value);
            b.unary(U::HalfToFloat, half)
        }
        Number::Encoded(encoding) => {
            let code = encoding.encode(b, value);
            encoding.decode(b, code)
        }
        _ => value,
    }
}

/// Returns the bits of a constant. If it is denormal, they are those of a zero of equal sign.
pub(crate) fn flushed_constant(bits: u64, number: Number) -> u64 {
    match number {
        Number::Float(16) => U::FlushHalfDenormal.apply(bits as u32).into(),
        Number::Float(32) => U::FlushDenormal.apply(bits as u32).into(),
        Number::Float(_) => WideOp::FlushDenormal.apply([bits, 0, 0]),
        _ => bits,
    }
}

/// Returns true for the operations that flush denormals: arithmetic, conversions and comparisons
/// of floats, and extended instructions.
pub(crate) fn is_flushing(op: Op) -> bool {
    use Op as O;
    matches!(
        op,
        O::FNegate
            | O::FAdd
            | O::FSub
            | O::FMul
            | O::FDiv
            | O::FRem
            | O::FMod
            | O::FConvert
            | O::ExtInst
            | O::ExtInstWithForwardRefsKHR
            | O::Dot
            | O::OuterProduct
            | O::VectorTimesScalar
            | O::MatrixTimesScalar
            | O::MatrixTimesVector
            | O::VectorTimesMatrix
            | O::MatrixTimesMatrix
            | O::GroupNonUniformFAdd
            | O::GroupNonUniformFMul
            | O::GroupNonUniformFMin
            | O::GroupNonUniformFMax
    ) || is_comparison(op)
        || is_derivative(op)
}

fn is_comparison(op: Op) -> bool {
    (Op::FOrdEqual as u32..=Op::FUnordGreaterThanEqual as u32).contains(&(op as u32))
}

fn is_derivative(op: Op) -> bool {
    (Op::DPdx as u32..=Op::FwidthCoarse as u32).contains(&(op as u32))
}

/// Sign-extends a narrow integer to a dword.
pub(crate) fn signed(b: &mut Builder, value: Value, from: Number) -> Value {
    let Number::Int(bits @ (8 | 16)) = from else { return value };
    let (zero, count) = (b.int(0), b.int(bits));
    r::extract_signed(b, value, zero, count)
}

/// Returns true if an operation interprets its integer operands as signed.
fn is_signed(op: Op) -> bool {
    use Op as O;
    matches!(
        op,
        O::SDiv
            | O::SRem
            | O::SMod
            | O::SLessThan
            | O::SLessThanEqual
            | O::SGreaterThan
            | O::SGreaterThanEqual
            | O::SConvert
            | O::ConvertSToF
            | O::SMulExtended
    )
}

/// Returns true if an extended operation interprets its integer operands as signed.
pub(crate) fn is_signed_extended(op: G) -> bool {
    matches!(op, G::SAbs | G::SSign | G::SMin | G::SMax | G::SClamp | G::FindSMsb | G::Ldexp)
}

/// Types of an operation on numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NumberTypes {
    /// Type of the operands, except the condition of a selection and the count of a shift.
    pub from: Number,
    /// Type of the result.
    pub to: Number,
}

/// Translates one component of a componentwise operation. `second` selects the second member of
/// operations that return two.
pub(crate) fn component(
    b: &mut Builder,
    op: Op,
    operands: &[Value],
    types: NumberTypes,
    second: bool,
) -> Result<Value> {
    let NumberTypes { from, to } = types;
    let mut operands: smallvec::SmallVec<[Value; 4]> = operands.iter().copied().collect();
    let Some(&x) = operands.first() else { return Err(Error::Malformed("an operation without operands")) };
    if is_signed(op) {
        operands.iter_mut().for_each(|operand| *operand = signed(b, *operand, from));
    } else if op == Op::ShiftRightArithmetic {
        operands[0] = signed(b, x, from);
    }
    if is_conversion(op) {
        return Ok(convert(b, op, operands[0], types));
    }
    limit_bit_numbers(b, op, &mut operands, from);
    let above = if second { upper_part(b, op, &operands, from) } else { None };
    let mut value = above.map_or_else(|| scalar::component(b, op, &operands, second), Ok)?;
    if let (Op::BitReverse, Number::Int(bits @ (8 | 16))) = (op, from) {
        // The reversed bits of a narrow number are at the upper end of the dword.
        let above = b.int(32 - bits);
        value = b.binary(B::ShrLogical, value, above);
    }
    Ok(if to.is_narrow() { narrow(b, value, to) } else { value })
}

/// Reduces the count of a shift and the offset of a bit field modulo the width, as processors do.
/// The bit count of an extraction keeps its low byte, as on NVIDIA GPUs. SPIR-V leaves the results
/// of larger values undefined.
fn limit_bit_numbers(b: &mut Builder, op: Op, operands: &mut [Value], number: Number) {
    let Number::Int(bits) = number else { return };
    match op {
        Op::ShiftLeftLogical | Op::ShiftRightLogical | Op::ShiftRightArithmetic => {
            keep_low_bits(b, operands.get_mut(1), bits - 1);
        }
        Op::BitFieldSExtract | Op::BitFieldUExtract => {
            keep_low_bits(b, operands.get_mut(1), bits - 1);
            keep_low_bits(b, operands.get_mut(2), 0xff);
        }
        Op::BitFieldInsert => keep_low_bits(b, operands.get_mut(2), bits - 1),
        _ => {}
    }
}

/// Masks the low dword of an operand, and drops the high dword.
fn keep_low_bits(b: &mut Builder, operand: Option<&mut Value>, mask: u32) {
    let Some(operand) = operand else { return };
    let low = b.split(*operand)[0];
    *operand = match b.as_constant(low) {
        Some(constant) => b.int(constant & mask),
        None => {
            let mask = b.int(mask);
            b.binary(B::And, low, mask)
        }
    };
}

/// Returns the second result of an operation on narrow integers. It is in the dword's bits above
/// the first result.
fn upper_part(b: &mut Builder, op: Op, operands: &[Value], number: Number) -> Option<Value> {
    let Number::Int(bits @ (8 | 16)) = number else { return None };
    let op = match op {
        Op::IAddCarry => B::IAdd,
        Op::UMulExtended | Op::SMulExtended => B::IMul,
        _ => return None,
    };
    let &[x, y] = operands else { return None };
    let (whole, bits) = (b.binary(op, x, y), b.int(bits));
    Some(b.binary(B::ShrLogical, whole, bits))
}

/// Returns the signed dword that is nearest to a signed integer of any width.
pub(crate) fn nearest_word(b: &mut Builder, value: Value) -> Value {
    if !b.is_wide(value) {
        return value;
    }
    let [low, high] = b.split(value);
    let (sign, most) = (b.int(31), b.int(i32::MAX as u32));
    let extended = b.binary(B::ShrArithmetic, low, sign);
    let fits = b.binary(B::IEq, extended, high);
    let negative = b.binary(B::ShrArithmetic, high, sign);
    let nearest = b.binary(B::Xor, negative, most);
    b.select(fits, low, nearest)
}

/// Returns the unsigned dword that is nearest to an unsigned integer of any width.
fn nearest_unsigned_word(b: &mut Builder, value: Value) -> Value {
    if !b.is_wide(value) {
        return value;
    }
    let ([low, high], none, most) = (b.split(value), b.int(0), b.int(u32::MAX));
    let fits = b.binary(B::IEq, high, none);
    b.select(fits, low, most)
}

fn is_conversion(op: Op) -> bool {
    use Op as O;
    matches!(
        op,
        O::UConvert | O::SConvert | O::FConvert | O::ConvertFToS | O::ConvertFToU | O::ConvertSToF | O::ConvertUToF
    )
}

fn convert(b: &mut Builder, op: Op, x: Value, types: NumberTypes) -> Value {
    let NumberTypes { from, to } = types;
    let wide = matches!(from, Number::Int(64) | Number::Float(64));
    let value = match (op, to) {
        (Op::UConvert | Op::SConvert, Number::Int(64)) if !wide => b.extend(x, op == Op::SConvert),
        (Op::UConvert | Op::SConvert, Number::Int(64)) => x,
        (Op::UConvert | Op::SConvert, _) => b.split(x)[0],
        (Op::FConvert, Number::Float(64)) if !wide => b.wide(WideOp::F32ToF64, &[x], Type::F64),
        // A bfloat16 is rounded twice, as SPV_KHR_bfloat16 demands.
        (Op::FConvert, Number::Float(16) | Number::Encoded(Encoding::Float8(_))) if wide => single_to_odd(b, x),
        (Op::FConvert, Number::Float(32) | Number::Encoded(Encoding::Bfloat16)) if wide => {
            b.wide(WideOp::F64ToF32, &[x], Type::F32)
        }
        (Op::FConvert, _) => x,
        (Op::ConvertFToS | Op::ConvertFToU, _) => {
            let x = if wide || to != Number::Int(64) { x } else { b.wide(WideOp::F32ToF64, &[x], Type::F64) };
            let whole = b.unary(if op == Op::ConvertFToS { U::FToS } else { U::FToU }, x);
            match (to, op) {
                (Number::Int(64), _) => whole,
                // Saturate, like conversions from single-precision floats.
                (_, Op::ConvertFToS) => nearest_word(b, whole),
                _ => nearest_unsigned_word(b, whole),
            }
        }
        (_, Number::Float(64)) => {
            let is_signed = op == Op::ConvertSToF;
            let x = if wide { x } else { b.extend(x, is_signed) };
            b.wide(if is_signed { WideOp::S64ToF64 } else { WideOp::U64ToF64 }, &[x], Type::F64)
        }
        _ => b.unary(if op == Op::ConvertSToF { U::SToF } else { U::UToF }, x),
    };
    narrow(b, value, to)
}

/// Converts a double to a single-precision float with rounding to odd: an inexact result is
/// truncated and its lowest bit set. Rounding it again to a half equals rounding the double
/// directly.
fn single_to_odd(b: &mut Builder, x: Value) -> Value {
    let nearest = b.wide(WideOp::F64ToF32, &[x], Type::F32);
    let back = b.wide(WideOp::F32ToF64, &[nearest], Type::F64);
    let (size, whole, one) = (b.unary(U::FAbs, back), b.unary(U::FAbs, x), b.int(1));
    let (is_over, is_exact) = (b.binary(B::FLt, whole, size), b.binary(B::FEq, whole, size));
    let code = b.cast(nearest, Type::I32);
    let below = b.binary(B::ISub, code, one);
    let towards_zero = b.select(is_over, below, code);
    let odd = b.binary(B::Or, towards_zero, one);
    let code = b.select(is_exact, code, odd);
    b.cast(code, Type::F32)
}

/// Rounds a float to a half towards zero, for results with that decoration.
pub(crate) fn half_towards_zero(b: &mut Builder, x: Value, from: Number) -> Value {
    let x = if from == Number::Float(64) { single_to_odd(b, x) } else { x };
    let half = b.unary(U::FloatToHalf, x);
    let rounded = b.unary(U::HalfToFloat, half);
    let (size, whole) = (b.unary(U::FAbs, rounded), b.unary(U::FAbs, x));
    let over = b.binary(B::FLt, whole, size);
    let one = b.int(1);
    let below = b.binary(B::ISub, half, one);
    let below = b.unary(U::HalfToFloat, below);
    b.select(over, below, rounded)
}

/// Reinterprets bits as components of another type, in little-endian order.
pub(crate) fn bitcast(b: &mut Builder, values: &[Value], types: NumberTypes, count: usize) -> Vec<Value> {
    let words = to_words(b, values, types.from);
    from_words(b, &words, types.to, count)
}

fn to_words(b: &mut Builder, values: &[Value], from: Number) -> Vec<Value> {
    if let Number::Int(64) | Number::Float(64) = from {
        return values.iter().flat_map(|&value| b.split(value)).collect();
    }
    let codes: Vec<Value> = values.iter().map(|&value| code(b, value, from)).collect();
    let per_word = (4 / from.bytes().max(1)) as usize;
    let pack = |chunk: &[Value]| {
        let mut word = chunk[0];
        for (index, &part) in chunk.iter().enumerate().skip(1) {
            let shift = b.int(index as u32 * from.bytes() * 8);
            let part = b.binary(B::Shl, part, shift);
            word = b.binary(B::Or, word, part);
        }
        word
    };
    codes.chunks(per_word).map(pack).collect()
}

/// Returns the bits in memory of a number of at most 32 bits.
pub(crate) fn code(b: &mut Builder, value: Value, from: Number) -> Value {
    match from {
        Number::Float(16) => b.unary(U::FloatToHalf, value),
        Number::Encoded(encoding) => encoding.encode(b, value),
        _ => b.cast(value, Type::I32),
    }
}

/// Returns the number with the given bits in memory. The upper bits of a narrow number's dword are
/// ignored.
pub(crate) fn decode(b: &mut Builder, word: Value, to: Number) -> Value {
    match to {
        Number::Float(16) => b.unary(U::HalfToFloat, word),
        Number::Encoded(encoding) => encoding.decode(b, word),
        Number::Int(8 | 16) => narrow(b, word, to),
        _ => b.cast(word, to.ir()),
    }
}

fn from_words(b: &mut Builder, words: &[Value], to: Number, count: usize) -> Vec<Value> {
    let zero = b.int(0);
    let word = |index: usize| words.get(index).copied().unwrap_or(zero);
    if let Number::Int(64) | Number::Float(64) = to {
        return (0..count).map(|index| b.join(word(2 * index), word(2 * index + 1), to.ir())).collect();
    }
    let per_word = 4 / to.bytes().max(1) as usize;
    let part = |index: usize| {
        let shift = b.int((index % per_word) as u32 * to.bytes() * 8);
        let part = if index.is_multiple_of(per_word) {
            word(index / per_word)
        } else {
            b.binary(B::ShrLogical, word(index / per_word), shift)
        };
        decode(b, part, to)
    };
    (0..count).map(part).collect()
}
