//! Contraction: a product that is added to or subtracted from something becomes a fused multiply-add.
//!
//! SPIR-V allows it unless one of the two instructions is decorated `NoContraction` (GLSL's `precise`). It is decided here and
//! not by a code generator, so that every executor rounds alike. Products are remembered within a block only: there all
//! of their factors are at hand. A difference of two products is left alone, since `x * x - y * y` of equal numbers would
//! not be 0.

use spirv::{Decoration, Op};

use super::Translator;
use crate::shader::ir::{BinaryOp, TernaryOp, UnaryOp, Value};

impl Translator<'_> {
    /// Whether the result `id` of a multiplication or addition may be combined with another's.
    pub(super) fn may_contract(&self, op: Op, id: u32) -> bool {
        matches!(op, Op::FMul | Op::VectorTimesScalar | Op::MatrixTimesScalar | Op::FAdd | Op::FSub)
            && !self.module.has((id, None), Decoration::NoContraction)
    }

    /// A product that later additions may take over.
    pub(super) fn loose_product(&mut self, x: Value, y: Value) -> Value {
        let product = self.builder.binary(BinaryOp::FMul, x, y);
        self.products.insert(product, (x, y));
        product
    }

    /// `x op y`, for an operation that may contract.
    pub(super) fn contracted(&mut self, op: Op, x: Value, y: Value) -> Value {
        let (left, right) = (self.products.get(&x).copied(), self.products.get(&y).copied());
        let b = &mut self.builder;
        match (op, left, right) {
            (Op::FAdd, _, Some((p, q))) => b.ternary(TernaryOp::Fma, p, q, x),
            (Op::FAdd, Some((p, q)), None) => b.ternary(TernaryOp::Fma, p, q, y),
            (Op::FAdd, None, None) => b.binary(BinaryOp::FAdd, x, y),
            (Op::FSub, Some((p, q)), None) => {
                let negated = b.unary(UnaryOp::FNeg, y);
                b.ternary(TernaryOp::Fma, p, q, negated)
            }
            (Op::FSub, None, Some((p, q))) => {
                let negated = b.unary(UnaryOp::FNeg, p);
                b.ternary(TernaryOp::Fma, negated, q, x)
            }
            (Op::FSub, ..) => b.binary(BinaryOp::FSub, x, y),
            _ => self.loose_product(x, y),
        }
    }
}
