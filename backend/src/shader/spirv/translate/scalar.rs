//! SPIR-V operations that act component by component, as operations of the IR.

use spirv::Op;

use crate::shader::ir::{BinaryOp as B, Builder, UnaryOp as U, Value};
use crate::shader::routines as r;

/// The IR's form of an operation on one operand.
pub(crate) fn unary(op: Op) -> Option<U> {
    Some(match op {
        Op::SNegate => U::INeg,
        Op::FNegate => U::FNeg,
        Op::Not => U::BitNot,
        Op::LogicalNot => U::LogicalNot,
        Op::BitCount => U::BitCount,
        Op::ConvertFToS => U::FToS,
        Op::ConvertFToU => U::FToU,
        Op::ConvertSToF => U::SToF,
        Op::ConvertUToF => U::UToF,
        Op::IsNan => U::IsNan,
        Op::DPdx | Op::DPdxCoarse => U::DdxCoarse,
        Op::DPdy | Op::DPdyCoarse => U::DdyCoarse,
        Op::DPdxFine => U::DdxFine,
        Op::DPdyFine => U::DdyFine,
        Op::UConvert | Op::SConvert | Op::FConvert | Op::CopyObject => U::Copy,
        _ => return None,
    })
}

/// The IR's form of an operation on two operands, and whether they change places.
pub(crate) fn binary(op: Op) -> Option<(B, bool)> {
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

/// Comparisons that are the negation of an operation of the IR: that operation, and whether operands change places.
pub(crate) fn negated_binary(op: Op) -> Option<(B, bool)> {
    Some(match op {
        Op::FUnordLessThan => (B::FLe, true),
        Op::FUnordGreaterThan => (B::FLe, false),
        Op::FUnordLessThanEqual => (B::FLt, true),
        Op::FUnordGreaterThanEqual => (B::FLt, false),
        _ => return None,
    })
}

/// The routine of an operation on one operand.
pub(crate) fn routine_of_one(op: Op) -> Option<fn(&mut Builder, Value) -> Value> {
    Some(match op {
        Op::BitReverse => r::bit_reverse,
        Op::QuantizeToF16 => r::quantize_to_half,
        Op::IsInf => r::is_infinite,
        _ => return None,
    })
}

/// The routine of an operation on two operands.
pub(crate) fn routine_of_two(op: Op) -> Option<fn(&mut Builder, Value, Value) -> Value> {
    Some(match op {
        Op::SMod => r::floor_modulo,
        Op::FRem => r::remainder_of_floats,
        Op::FMod => r::floor_modulo_of_floats,
        _ => return None,
    })
}
