//! Tests of register allocation, encoding and instruction selection on random functions and on
//! single operations.

use regalloc2::Algorithm;
use vitric_ir::passes::{self, LaneVariance};
use vitric_ir::{BinaryOp, Builder, Function, Inst, Type, Value, random};

use super::{CodegenOptions, Target, allocate, disassemble, generate_with, lower};

/// Targets that code is generated for; this machine need not support them.
const TARGETS: [Target; 2] = [Target::Avx2, Target::Avx512];

/// Returns a function with inputs of these types whose output is the result of `operation`.
fn of_inputs(types: &[Type], operation: impl Fn(&mut Builder, &[Value]) -> Value) -> Function {
    let mut b = Builder::new();
    let inputs: Vec<Value> = (0..).zip(types).map(|(slot, &ty)| b.input(slot, ty)).collect();
    let value = operation(&mut b, &inputs);
    b.push(Inst::Output { slot: 0, value });
    b.finish()
}

#[test]
fn both_allocators_pass_regalloc_s_checker() {
    for seed in 0..60 {
        let mut function = random::function(seed);
        let uniformity = passes::prepare(&mut function, |_| LaneVariance::Divergent);
        for target in TARGETS {
            let lowered = lower::lower(&function, &uniformity, CodegenOptions::default(), target).unwrap();
            let input = allocate::Allocatable::new(&lowered.function, target);
            for algorithm in [Algorithm::Ion, Algorithm::Fastalloc] {
                let output = input.run(algorithm).unwrap();
                let environment = input.environment();
                let mut checker = regalloc2::checker::Checker::new(&input, &environment);
                checker.prepare(&output);
                checker.run().unwrap_or_else(|errors| panic!("{target:?} {algorithm:?}: {errors:?}\n{function}"));
            }
        }
    }
}

#[test]
fn encoded_code_decodes_without_invalid_instructions() {
    for seed in 0..60 {
        let mut function = random::function(seed);
        let uniformity = passes::prepare(&mut function, |_| LaneVariance::Divergent);
        for target in TARGETS {
            let code =
                generate_with(&function, &uniformity, CodegenOptions::default(), target, Algorithm::Ion).unwrap().code;
            let mut decoder = iced_x86::Decoder::new(64, &code.bytes[code.entry..], iced_x86::DecoderOptions::NONE);
            let mut last = iced_x86::Instruction::default();
            while decoder.can_decode() {
                last = decoder.decode();
                assert!(!last.is_invalid(), "{}", disassemble(&code.bytes, code.entry));
            }
            assert!(last.code() == iced_x86::Code::Retnq);
        }
    }
}

/// Returns the numbers of comparisons, minima and blends in the code of an operation on two
/// inputs. `swapped` reverses the order of the inputs.
fn counts(op: BinaryOp, swapped: bool, target: Target) -> [usize; 3] {
    let mut function = of_inputs(&[Type::F32; 2], |b, values| match swapped {
        true => b.binary(op, values[1], values[0]),
        false => b.binary(op, values[0], values[1]),
    });
    let uniformity = passes::prepare(&mut function, |_| LaneVariance::Divergent);
    let generated = generate_with(&function, &uniformity, CodegenOptions::default(), target, Algorithm::Ion);
    let code = generated.unwrap().code;
    let text = disassemble(&code.bytes, code.entry);
    ["vcmp", "vminps", "blend"].map(|name| text.lines().filter(|line| line.contains(name)).count())
}

#[test]
fn minima_of_numbers_need_a_mask_if_the_second_operand_is_older() {
    for target in TARGETS {
        for swapped in [false, true] {
            let [plain, of_numbers] = [BinaryOp::FMin, BinaryOp::FMinNum].map(|op| counts(op, swapped, target));
            // AVX2 keeps a wave in two registers, so most counts double.
            let more = match (target, swapped) {
                (Target::Avx2, _) => [2, 0, 2],
                (Target::Avx512, false) => [1, 0, 1],
                (Target::Avx512, true) => [1, 0, 0],
            };
            assert_eq!(of_numbers, std::array::from_fn(|at| plain[at] + more[at]), "{target:?} {swapped}");
        }
    }
}
