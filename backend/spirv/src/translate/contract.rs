//! Contraction: fuses a product and a sum or difference to a multiply-add.
//!
//! SPIR-V allows contraction unless one of the two instructions has the decoration `NoContraction`
//! (GLSL's `precise`). Floating-point modes of the instruction, or of the entry point for numbers
//! of its width, may also forbid it (`SPV_KHR_float_controls2`). The translator decides it instead
//! of a code generator, so that every executor rounds alike.
//!
//! Products are only recorded within a block, where all their factors are available. A difference
//! of two products is not contracted, because `x * x - y * y` of equal numbers would not be 0.
//!
//! Unless NaN, infinity and the sign of zero must be preserved, a product with a constant 0 is not
//! computed and a constant 0 is not added. Filters have such weights, and each one saves a sample.

use spirv::{Decoration, ExecutionMode, FPFastMathMode, Op};
use vitric_ir::{BinaryOp, TernaryOp, UnaryOp, Value};

use super::Translator;
use crate::module::EntryPoint;
use crate::number::Number;
use crate::parse::Instruction;
use crate::{Error, Result};

/// Modes that allow contraction. The second one includes all others.
const CONTRACTS: u32 = FPFastMathMode::ALLOW_CONTRACT.bits() | FPFastMathMode::FAST.bits();

/// Modes in which the sign of zeros is insignificant.
const ANY_ZERO: u32 = FPFastMathMode::NSZ.bits() | FPFastMathMode::FAST.bits();

/// Modes that together imply that 0 times any number is 0.
const ONLY_NUMBERS: u32 = FPFastMathMode::NOT_NAN.bits() | FPFastMathMode::NOT_INF.bits() | FPFastMathMode::NSZ.bits();

/// Permitted simplifications of a product, a sum or a difference.
#[derive(Debug, Clone, Copy)]
pub(super) struct Relaxations {
    /// True if operands are neither NaN nor infinite and the sign of zeros is insignificant.
    /// Products with 0 are then 0, and adding 0 has no effect.
    only_numbers: bool,
}

impl Translator<'_> {
    /// Returns how the result of an instruction may be contracted with another one, or `None` if
    /// it may not. Half-precision results are never contracted.
    pub(super) fn may_contract(&self, inst: &Instruction, number: Number) -> Option<Relaxations> {
        let is_one = matches!(inst.op, Op::FMul | Op::VectorTimesScalar | Op::MatrixTimesScalar | Op::FAdd | Op::FSub);
        let &id = inst.words.get(1).filter(|_| is_one && number != Number::Float(16))?;
        let modes = self.fast_math_of(id, number);
        let may =
            modes.is_none_or(|modes| modes & CONTRACTS != 0) && !self.module.has((id, None), Decoration::NoContraction);
        let only_numbers = match modes {
            Some(modes) => modes & ONLY_NUMBERS == ONLY_NUMBERS || modes & FPFastMathMode::FAST.bits() != 0,
            None => !self.preserved.contains(&number),
        };
        may.then_some(Relaxations { only_numbers: only_numbers && number == Number::Float(32) })
    }

    /// Returns true if the result of an instruction distinguishes -0 from 0. Only explicit modes
    /// require this.
    pub(super) fn has_signed_zeros(&self, inst: &Instruction) -> Result<bool> {
        let (ty, id) = (inst.word(0)?, inst.word(1)?);
        let modes = self.fast_math_of(id, Number::of(self.module, ty)?);
        Ok(modes.is_some_and(|modes| modes & ANY_ZERO == 0))
    }

    /// Returns the floating-point modes of a result of type `number`, or `None` if the module
    /// declares none.
    fn fast_math_of(&self, id: u32, number: Number) -> Option<u32> {
        let modes = self.module.decoration_word((id, None), Decoration::FPFastMathMode);
        modes.or_else(|| self.fast_math.iter().find(|(of, _)| *of == number).map(|(_, modes)| *modes))
    }

    /// Returns the default floating-point modes of an entry point, by type.
    pub(super) fn fast_math_defaults(&self, point: &EntryPoint) -> Result<Vec<(Number, u32)>> {
        let of_point = self
            .module
            .modes
            .iter()
            .filter(|(function, mode, _)| *function == point.function && *mode == ExecutionMode::FPFastMathDefault);
        let modes = of_point.map(|(_, _, operands)| match operands[..] {
            [ty, modes] => Ok((Number::of(self.module, ty)?, self.constants.scalar(modes).unwrap_or(0))),
            _ => Err(Error::Malformed("a mode of floating point of another form")),
        });
        modes.collect()
    }

    fn is_zero(&self, value: Value) -> bool {
        self.builder.as_constant(value).is_some_and(|word| word << 1 == 0)
    }

    /// Appends a product, which later additions may contract.
    pub(super) fn relaxed_product(&mut self, relaxed: Relaxations, x: Value, y: Value) -> Value {
        if relaxed.only_numbers && (self.is_zero(x) || self.is_zero(y)) {
            return self.builder.float(0.0);
        }
        let product = self.builder.binary(BinaryOp::FMul, x, y);
        self.products.insert(product, (x, y));
        product
    }

    /// Appends `x op y` for an operation that may contract.
    pub(super) fn contracted(&mut self, relaxed: Relaxations, op: Op, x: Value, y: Value) -> Value {
        match op {
            Op::FAdd | Op::FSub if relaxed.only_numbers && self.is_zero(y) => return x,
            Op::FAdd if relaxed.only_numbers && self.is_zero(x) => return y,
            _ => {}
        }
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
            _ => self.relaxed_product(relaxed, x, y),
        }
    }
}
