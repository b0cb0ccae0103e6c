//! SPIR-V operations on single components, translated to operations of the IR.

use spirv::Op;
use vitric_ir::{BinaryOp as B, Builder, UnaryOp as U, Value, elementary as r};

use crate::{Error, Result};

/// Translates one component of an operation. `second` selects the second member of operations that
/// return two.
pub(crate) fn component(b: &mut Builder, op: Op, operands: &[Value], second: bool) -> Result<Value> {
    let [x, rest @ ..] = operands else { return Err(Error::Malformed("an operation without operands")) };
    let x = *x;
    if let Some(op) = unary(op) {
        return Ok(b.unary(op, x));
    }
    if let Some(routine) = routine_of_one(op) {
        return Ok(routine(b, x));
    }
    if matches!(op, Op::Fwidth | Op::FwidthFine | Op::FwidthCoarse) {
        return Ok(fwidth(b, op, x));
    }
    let unsupported = || Error::Unsupported(format!("{op:?}"));
    let (&y, rest) = rest.split_first().ok_or_else(unsupported)?;
    if let Some((op, swapped)) = binary(op) {
        return Ok(if swapped { b.binary(op, y, x) } else { b.binary(op, x, y) });
    }
    if let Some(routine) = routine_of_two(op) {
        return Ok(routine(b, x, y));
    }
    if let Some((op, swapped)) = negated_binary(op) {
        let inverse = if swapped { b.binary(op, y, x) } else { b.binary(op, x, y) };
        return Ok(b.unary(U::LogicalNot, inverse));
    }
    match (op, rest) {
        (Op::FUnordEqual | Op::FOrdNotEqual, _) => Ok(unordered(b, op, x, y)),
        (Op::Ordered | Op::Unordered, _) => {
            let [left, right] = [x, y].map(|operand| b.unary(U::IsNan, operand));
            let any = b.binary(B::LogicalOr, left, right);
            Ok(if op == Op::Unordered { any } else { b.unary(U::LogicalNot, any) })
        }
        (Op::IAddCarry, _) => Ok(if second { r::add_carry(b, x, y) } else { b.binary(B::IAdd, x, y) }),
        (Op::ISubBorrow, _) => Ok(if second { r::sub_borrow(b, x, y) } else { b.binary(B::ISub, x, y) }),
        (Op::UMulExtended | Op::SMulExtended, _) if second && b.is_wide(x) => {
            Ok(r::multiply_high(b, x, y, op == Op::SMulExtended))
        }
        (Op::UMulExtended, _) => Ok(b.binary(if second { B::UMulHi } else { B::IMul }, x, y)),
        (Op::SMulExtended, _) => Ok(b.binary(if second { B::SMulHi } else { B::IMul }, x, y)),
        (Op::Select, &[z, ..]) => Ok(b.select(x, y, z)),
        (Op::BitFieldSExtract, &[z, ..]) => Ok(r::extract_signed(b, x, y, z)),
        (Op::BitFieldUExtract, &[z, ..]) => Ok(r::extract_unsigned(b, x, y, z)),
        (Op::BitFieldInsert, &[offset, count, ..]) => Ok(insert(b, [x, y], offset, count)),
        _ => Err(unsupported()),
    }
}

fn fwidth(b: &mut Builder, op: Op, x: Value) -> Value {
    let fine = op == Op::FwidthFine;
    let (along_x, along_y) = if fine { (U::DdxFine, U::DdyFine) } else { (U::DdxCoarse, U::DdyCoarse) };
    let [dx, dy] = [along_x, along_y].map(|op| {
        let change = b.unary(op, x);
        b.unary(U::FAbs, change)
    });
    b.binary(B::FAdd, dx, dy)
}

/// Translates the comparisons "equal or unordered" and "ordered and not equal".
fn unordered(b: &mut Builder, op: Op, x: Value, y: Value) -> Value {
    let (less, greater) = (b.binary(B::FLt, x, y), b.binary(B::FLt, y, x));
    let different = b.binary(B::LogicalOr, less, greater);
    if op == Op::FOrdNotEqual { different } else { b.unary(U::LogicalNot, different) }
}

fn insert(b: &mut Builder, [x, y]: [Value; 2], offset: Value, count: Value) -> Value {
    let mask = r::bit_field_mask(b, x, offset, count);
    let shifted = b.binary(B::Shl, y, offset);
    let inserted = b.binary(B::And, shifted, mask);
    let inverse = b.unary(U::BitNot, mask);
    let kept = b.binary(B::And, x, inverse);
    b.binary(B::Or, kept, inserted)
}

/// Returns the IR operation of an operation on one operand.
fn unary(op: Op) -> Option<U> {
    Some(match op {
        Op::SNegate => U::INeg,
        Op::FNegate => U::FNeg,
        Op::Not => U::BitNot,
        Op::LogicalNot => U::LogicalNot,
        Op::BitCount => U::BitCount,
        Op::IsNan => U::IsNan,
        Op::DPdx | Op::DPdxCoarse => U::DdxCoarse,
        Op::DPdy | Op::DPdyCoarse => U::DdyCoarse,
        Op::DPdxFine => U::DdxFine,
        Op::DPdyFine => U::DdyFine,
        _ => return None,
    })
}

/// Returns the IR operation of an operation on two operands, and true if the operands are swapped.
fn binary(op: Op) -> Option<(B, bool)> {
    arithmetic(op).map(|op| (op, false)).or_else(|| comparison(op))
}

fn arithmetic(op: Op) -> Option<B> {
    Some(match op {
        Op::IAdd => B::IAdd,
        Op::ISub => B::ISub,
        Op::IMul => B::IMul,
        Op::SDiv => B::SDiv,
        Op::UDiv => B::UDiv,
        Op::SRem => B::SRem,
        Op::UMod => B::UMod,
        Op::FAdd => B::FAdd,
        Op::FSub => B::FSub,
        Op::FMul => B::FMul,
        Op::FDiv => B::FDiv,
        Op::ShiftLeftLogical => B::Shl,
        Op::ShiftRightLogical => B::ShrLogical,
        Op::ShiftRightArithmetic => B::ShrArithmetic,
        Op::BitwiseAnd => B::And,
        Op::BitwiseOr => B::Or,
        Op::BitwiseXor => B::Xor,
        Op::LogicalAnd => B::LogicalAnd,
        Op::LogicalOr => B::LogicalOr,
        Op::LogicalEqual => B::LogicalEq,
        Op::LogicalNotEqual => B::LogicalNe,
        _ => return None,
    })
}

fn comparison(op: Op) -> Option<(B, bool)> {
    Some(match op {
        Op::IEqual => (B::IEq, false),
        Op::INotEqual => (B::INe, false),
        Op::SLessThan => (B::SLt, false),
        Op::SGreaterThan => (B::SLt, true),
        Op::SLessThanEqual => (B::SLe, false),
        Op::SGreaterThanEqual => (B::SLe, true),
        Op::ULessThan => (B::ULt, false),
        Op::UGreaterThan => (B::ULt, true),
        Op::ULessThanEqual => (B::ULe, false),
        Op::UGreaterThanEqual => (B::ULe, true),
        Op::FOrdEqual => (B::FEq, false),
        Op::FUnordNotEqual => (B::FNe, false),
        Op::FOrdLessThan => (B::FLt, false),
        Op::FOrdGreaterThan => (B::FLt, true),
        Op::FOrdLessThanEqual => (B::FLe, false),
        Op::FOrdGreaterThanEqual => (B::FLe, true),
        _ => return None,
    })
}

/// Returns the IR operation whose negation a comparison is, and true if the operands are swapped.
fn negated_binary(op: Op) -> Option<(B, bool)> {
    Some(match op {
        Op::FUnordLessThan => (B::FLe, true),
        Op::FUnordGreaterThan => (B::FLe, false),
        Op::FUnordLessThanEqual => (B::FLt, true),
        Op::FUnordGreaterThanEqual => (B::FLt, false),
        _ => return None,
    })
}

/// Returns the routine of an operation on one operand.
fn routine_of_one(op: Op) -> Option<fn(&mut Builder, Value) -> Value> {
    Some(match op {
        Op::BitReverse => r::bit_reverse,
        Op::QuantizeToF16 => r::quantize_to_half,
        Op::IsInf => r::is_infinite,
        _ => return None,
    })
}

/// Returns the routine of an operation on two operands.
fn routine_of_two(op: Op) -> Option<fn(&mut Builder, Value, Value) -> Value> {
    Some(match op {
        Op::SMod => r::floor_modulo,
        Op::FRem => r::remainder_of_floats,
        Op::FMod => r::floor_modulo_of_floats,
        _ => return None,
    })
}
