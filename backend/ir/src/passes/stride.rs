//! Stride analysis: finds values that grow by a constant step from lane to lane, in all 16 lanes.
//!
//! A code generator loads and stores whole vectors at an address with a stride, instead of
//! gathering and scattering. Sums wrap: a value is `first + lane * step` modulo 2^32.

use super::LaneVariance;
use crate::{BinaryOp, Function, Inst, UnaryOp, Value};

/// Returns the step of each value that has one. Uniform values have step 0.
pub fn run(function: &Function, uniform: &[bool], input: impl Fn(u32) -> LaneVariance) -> Vec<Option<u32>> {
    let mut strides: Vec<Option<u32>> = uniform.iter().map(|&uniform| uniform.then_some(0)).collect();
    let mut constants: Vec<Option<u32>> = vec![None; uniform.len()];
    for inst in &function.insts {
        let step = |value: Value| strides[value.0 as usize];
        let constant = |value: Value| constants[value.0 as usize];
        let (result, stride) = match *inst {
            Inst::Const { result, word } => {
                constants[result.0 as usize] = Some(word);
                continue;
            }
            Inst::Lane { result } => (result, Some(1)),
            Inst::Input { result, slot } if input(slot) == LaneVariance::Consecutive => (result, Some(1)),
            Inst::Unary { result, op: UnaryOp::Copy, a } => (result, step(a)),
            Inst::Unary { result, op: UnaryOp::INeg, a } => (result, step(a).map(u32::wrapping_neg)),
            Inst::Binary { result, op, a, b } => {
                (result, of_binary(op, [step(a), step(b)], [constant(a), constant(b)]))
            }
            _ => continue,
        };
        let known = &mut strides[result.0 as usize];
        *known = known.or(stride);
    }
    strides
}

fn of_binary(op: BinaryOp, [a, b]: [Option<u32>; 2], constants: [Option<u32>; 2]) -> Option<u32> {
    match (op, constants) {
        (BinaryOp::IAdd, _) => Some(a?.wrapping_add(b?)),
        (BinaryOp::ISub, _) => Some(a?.wrapping_sub(b?)),
        (BinaryOp::IMul, [_, Some(factor)]) => Some(a?.wrapping_mul(factor)),
        (BinaryOp::IMul, [Some(factor), _]) => Some(b?.wrapping_mul(factor)),
        (BinaryOp::Shl, [_, Some(count)]) if count < 32 => Some(a? << count),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    #[test]
    fn sums_and_multiples_of_counting_values_have_steps() {
        let function = parse(
            "%0: i32 = Input 0\n%1: i32 = Input 1\n%2: i32 = Input 2\n%3: i32 = Const 0x4\n%4: i32 = IMul %0, %3\n\
             %5: i32 = IAdd %4, %1\n%6: i32 = Shl %5, %3\n%7: i32 = ISub %1, %5\n%8: i32 = IAdd %5, %2\n%9: i32 = And %5, %3\n\
             %10: i32 = Lane\n%11: i32 = IAdd %10, %5\n",
        );
        let kinds = [LaneVariance::Consecutive, LaneVariance::Uniform, LaneVariance::Divergent];
        let mut uniform = vec![false; 12];
        (uniform[1], uniform[3]) = (true, true);
        let strides = run(&function.unwrap(), &uniform, |slot| kinds[slot as usize]);
        let minus_four = 4u32.wrapping_neg();
        let expected = [
            Some(1),
            Some(0),
            None,
            Some(0),
            Some(4),
            Some(4),
            Some(64),
            Some(minus_four),
            None,
            None,
            Some(1),
            Some(5),
        ];
        assert_eq!(strides, expected);
    }
}
