//! Operations that flush denormals in execution mode `DenormFlushToZero`.
//! Source: `SPV_KHR_float_controls`.

use spirv::Op;

/// Returns true for the operations that flush denormals: arithmetic, conversions and comparisons
/// of floats, and extended instructions.
pub fn is_flushing(op: Op) -> bool {
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
