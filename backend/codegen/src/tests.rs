//! Tests of register allocation, encoding and instruction selection on random functions and on
//! single operations.

use iced_x86::{Code, Decoder, DecoderOptions, Instruction, OpKind};
use regalloc2::Algorithm;
use vitric_ir::passes::uniformity::Uniformity;
use vitric_ir::passes::{self, LaneVariance};
use vitric_ir::{BLOCK, BinaryOp, Builder, Function, Inst, MatrixMultiply, MatrixOp, Type, Value, random};

use super::{ByteProducts, CodegenOptions, Target, allocate, disassemble, generate_with, lower};

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

/// Checks the allocations of a function by both allocators.
fn check_allocation(function: &Function, uniformity: &Uniformity, options: CodegenOptions, target: Target) {
    let lowered = lower::lower(function, uniformity, options, target).unwrap();
    let input = allocate::Allocatable::new(&lowered.function, target);
    for algorithm in [Algorithm::Ion, Algorithm::Fastalloc] {
        let output = input.run(algorithm).unwrap();
        let environment = input.environment();
        let mut checker = regalloc2::checker::Checker::new(&input, &environment);
        checker.prepare(&output);
        checker.run().unwrap_or_else(|errors| panic!("{target:?} {algorithm:?}: {errors:?}\n{function}"));
    }
}

#[test]
fn both_allocators_pass_regalloc_s_checker() {
    for seed in 0..60 {
        let mut function = random::function(seed);
        let uniformity = passes::prepare(&mut function, |_| LaneVariance::Divergent);
        for target in TARGETS {
            check_allocation(&function, &uniformity, CodegenOptions::default(), target);
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
            let mut decoder = Decoder::new(64, &code.bytes[code.entry..], DecoderOptions::NONE);
            let mut last = Instruction::default();
            while decoder.can_decode() {
                last = decoder.decode();
                assert!(!last.is_invalid(), "{}", disassemble(&code.bytes, code.entry));
            }
            assert!(last.code() == Code::Retnq);
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

/// Returns a function that adds products of matrices to 2x2 blocks, as often as an input says.
fn sums_of_products(op: MatrixOp, ty: Type) -> Function {
    let mut b = Builder::new();
    let [turns, left, right] = [(0, Type::I32), (1, ty), (2, ty)].map(|(slot, ty)| b.input(slot, ty));
    let sums = b.local(4 * BLOCK as u32);
    let turn = b.local(1);
    b.push(Inst::Loop);
    let at = b.local_load(turn, 0, None, Type::I32);
    let is_last = b.binary(BinaryOp::ULe, turns, at);
    b.push(Inst::If { condition: is_last });
    b.push(Inst::Break { depth: 0 });
    b.push(Inst::EndIf);
    for block in (0..4).map(|block| block * BLOCK as u32) {
        let mut words = vec![left; op.block()];
        words.extend(vec![right; op.block()]);
        words.extend((block..).take(BLOCK).map(|word| b.local_load(sums, word, None, ty)));
        let results: Vec<Value> = (0..BLOCK).map(|_| b.value(ty)).collect();
        b.push(Inst::MatrixMultiply(Box::new(MatrixMultiply { op, words, result: results[0] })));
        (block..).zip(results).for_each(|(word, result)| b.local_store(sums, word, None, result));
    }
    b.push(Inst::Continuing);
    let one = b.int(1);
    let next = b.binary(BinaryOp::IAdd, at, one);
    b.local_store(turn, 0, None, next);
    b.push(Inst::EndLoop);
    for word in 0..4 * BLOCK as u32 {
        let value = b.local_load(sums, word, None, ty);
        b.push(Inst::Output { slot: word, value });
    }
    b.finish()
}

#[test]
fn loops_of_products_of_matrices_keep_their_sums_in_registers() {
    let cases = [
        (MatrixOp::Floats, Type::F32, Target::Avx2, 16),
        (MatrixOp::SignedBySigned, Type::I32, Target::Avx2, 16),
        (MatrixOp::SignedBySigned, Type::I32, Target::Avx512, 8),
    ];
    for (op, ty, target, count) in cases {
        let mut function = sums_of_products(op, ty);
        let uniformity = passes::prepare(&mut function, |_| LaneVariance::Divergent);
        let options = CodegenOptions { byte_products: ByteProducts::OfPairs, ..CodegenOptions::default() };
        check_allocation(&function, &uniformity, options, target);
        let code = generate_with(&function, &uniformity, options, target, Algorithm::Ion).unwrap().code;
        let insts: Vec<Instruction> =
            Decoder::new(64, &code.bytes[code.entry..], DecoderOptions::NONE).iter().collect();
        let loops: Vec<&[Instruction]> = insts
            .iter()
            .enumerate()
            .filter(|(_, inst)| inst.code() == Code::Jne_rel32_64)
            .filter_map(|(end, inst)| {
                let start = insts[..end].iter().position(|first| first.ip() == inst.near_branch64())?;
                Some(&insts[start..end])
            })
            .collect();
        let text = disassemble(&code.bytes, code.entry);
        assert_eq!(loops.len(), count, "{op:?} {target:?}\n{text}");
        let stores = loops.concat().iter().filter(|inst| inst.op0_kind() == OpKind::Memory).count();
        assert_eq!(stores, 0, "{op:?} {target:?}\n{text}");
    }
}
