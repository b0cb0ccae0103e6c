//! Generated code against the interpreter: every operation on random words, and random programs with control flow,
//! locals, memory and jumps, on every target that the machine has; and what was encoded, decoded again.

mod random;
mod routines;

use std::time::Duration;

use ash::vk;
use proptest::prelude::*;

use super::{Target, generate_with};
use crate::memory::{Allocation, Heap};
use crate::shader::interp::{Executable, Wave};
use crate::shader::ir::{BinaryOp, Builder, Function, Inst, TernaryOp, Type, UnaryOp, parse, verify, verify_strictly};
use crate::shader::runtime::kernels::{Lanes, Mask, WAVE};
use crate::shader::runtime::{Bindings, Bound, Deadline, Environment, SharedMemory, Stop};
use crate::shader::{FragmentFacts, InputSlot, Interpolation, OutputSlot, Place, Program, Slot};

/// What a program did.
#[derive(Debug, Clone, PartialEq)]
struct Outcome {
    stop: Stop,
    outputs: Vec<Lanes>,
    killed: Mask,
    buffer: Vec<u8>,
    shared: Vec<u32>,
}

/// What a program runs on.
struct Run {
    inputs: Vec<Lanes>,
    lanes: Mask,
    helpers: Mask,
}

const OUTPUTS: usize = 6;
const BUFFER_BYTES: usize = 192;
const SHARED_BYTES: u32 = 64;

fn program(function: &Function, inputs: usize, target: Option<Target>) -> Program {
    let slot = Slot::Location { location: 0, component: 0, index: 0 };
    let input = InputSlot { slot, ty: Type::I32, interpolation: Interpolation::Flat, place: Place::Center };
    let mut code = Executable::new(function.clone(), |_| false);
    code.generate(target).unwrap_or_else(|problem| panic!("{problem}\n{function}"));
    Program {
        stage: vk::ShaderStageFlags::COMPUTE,
        code,
        inputs: vec![input; inputs],
        outputs: vec![OutputSlot { slot, ty: Type::I32 }; OUTPUTS],
        resources: Vec::new(),
        shared_bytes: SHARED_BYTES,
        local_size: [16, 1, 1],
        fragment: FragmentFacts::default(),
    }
}

fn run(program: &Program, run: &Run) -> Outcome {
    let deadline = Deadline::after(Duration::from_secs(100));
    let memory = Allocation::new(&Heap::new(1 << 20), BUFFER_BYTES as u64).unwrap();
    let fill: Vec<u8> = (0..BUFFER_BYTES).map(|index| (index * 37) as u8).collect();
    memory.write(0, &fill);
    // A few bytes at both ends are outside of the range.
    let bindings = Bindings::new(vec![vec![Bound::Buffer(Some(memory.clone()), 8, BUFFER_BYTES as u64 - 18)]]);
    let shared = SharedMemory::new(SHARED_BYTES);
    let push: Vec<u8> = (0..32u8).map(|index| index.wrapping_mul(11)).collect();
    let environment = Environment {
        bindings: &bindings,
        push: &push,
        shared: Some(&shared),
        interpolator: None,
        deadline: &deadline,
    };
    let mut wave = Wave::default();
    wave.start(program, run.lanes, run.helpers);
    wave.inputs.clone_from_slice(&run.inputs);
    let mut stop = wave.run(program, &environment);
    while stop == Stop::Barrier {
        stop = wave.run(program, &environment);
    }
    let mut buffer = vec![0; BUFFER_BYTES];
    memory.read(0, &mut buffer);
    let word = |index: u32| shared.word(index * 4).map_or(0, |word| word.load(std::sync::atomic::Ordering::Relaxed));
    Outcome {
        stop,
        outputs: wave.outputs.clone(),
        killed: wave.killed(),
        buffer,
        shared: (0..SHARED_BYTES / 4).map(word).collect(),
    }
}

fn targets() -> Vec<Target> {
    [Target::Avx2, Target::Avx512].into_iter().filter(|target| target.is_supported()).collect()
}

/// NaNs are one: which one an operation on two of them gives is not defined.
fn canonical(word: u32) -> u32 {
    if f32::from_bits(word).is_nan() { 0x7fc0_0000 } else { word }
}

fn canonical_outcome(mut outcome: Outcome) -> Outcome {
    outcome.outputs.as_flattened_mut().iter_mut().for_each(|word| *word = canonical(*word));
    outcome
}

/// Compares all targets with the interpreter.
fn check(function: &Function, how: &Run) {
    verify(function).and_then(|()| verify_strictly(function)).unwrap_or_else(|problem| panic!("{problem}\n{function}"));
    let expected = canonical_outcome(run(&program(function, how.inputs.len(), None), how));
    for target in targets() {
        let outcome = canonical_outcome(run(&program(function, how.inputs.len(), Some(target)), how));
        assert_eq!(outcome, expected, "{target:?}\n{function}");
    }
}

/// Words of every kind: small integers, floats of every size, NaN, infinities, anything.
fn word() -> impl Strategy<Value = u32> {
    prop_oneof![
        0u32..40,
        any::<f32>().prop_map(f32::to_bits),
        (-100.0f32..100.0).prop_map(f32::to_bits),
        any::<u32>(),
        prop::sample::select(vec![
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            0x8000_0000,
            0xffff_ffff,
            0x7fff_ffff,
            1,
            0x4f00_0000,
            0x4f80_0000,
            0xcf00_0000,
            0x4eff_ffff
        ]),
    ]
}

fn lanes() -> impl Strategy<Value = Lanes> {
    prop::array::uniform16(word())
}

/// A function that computes one operation of inputs and stores the result.
fn of_inputs(
    operands: &[Type],
    op: impl FnOnce(&mut Builder, &[crate::shader::ir::Value]) -> crate::shader::ir::Value,
) -> Function {
    let mut b = Builder::new();
    let values: Vec<_> = operands
        .iter()
        .enumerate()
        .map(|(slot, &ty)| {
            let value = b.input(slot as u32, if ty == Type::Bool { Type::I32 } else { ty });
            if ty == Type::Bool {
                let one = b.int(1);
                let bit = b.binary(BinaryOp::And, value, one);
                b.cast(bit, Type::Bool)
            } else {
                value
            }
        })
        .collect();
    let result = op(&mut b, &values);
    b.push(Inst::Output { slot: 0, value: result });
    b.finish()
}

fn operand_type(name: &str, position: usize) -> Type {
    let of_integers = ["SToF", "UToF", "HalfToFloat", "BitCount", "BitNot"];
    if name.starts_with("Logical") || (name.starts_with("Select") && (position == 0 || name == "SelectBool")) {
        Type::Bool
    } else if name == "SelectFloat"
        || (name.starts_with('F')
            || ["Floor", "Ceil", "Trunc", "RoundEven", "Sqrt", "IsNan"].contains(&name)
            || name.starts_with("Dd"))
            && !of_integers.contains(&name)
    {
        Type::F32
    } else {
        Type::I32
    }
}

/// Every operation as a function of three inputs.
fn functions_of_every_operation() -> Vec<Function> {
    let mut out = Vec::new();
    for &op in UnaryOp::ALL {
        let ty = operand_type(&format!("{op:?}"), 0);
        out.push(of_inputs(&[ty, ty, ty], |b, values| b.unary(op, values[0])));
    }
    for &op in BinaryOp::ALL {
        let ty = operand_type(&format!("{op:?}"), 0);
        out.push(of_inputs(&[ty, ty, ty], |b, values| b.binary(op, values[0], values[1])));
    }
    for &op in TernaryOp::ALL {
        let types = [0, 1, 2].map(|position| operand_type(&format!("{op:?}"), position));
        out.push(of_inputs(&types, |b, values| b.ternary(op, values[0], values[1], values[2])));
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn every_operation_computes_what_the_interpreter_computes(a in lanes(), b in lanes(), c in lanes()) {
        for function in functions_of_every_operation() {
            check(&function, &Run { inputs: vec![a, b, c], lanes: Mask::MAX, helpers: 0 });
        }
    }

    #[test]
    fn operations_on_constants_and_uniform_values_too(a in lanes(), word in word(), uniform in word()) {
        for &op in BinaryOp::ALL {
            let ty = operand_type(&format!("{op:?}"), 0);
            for swapped in [false, true] {
                for of_uniform in [false, true] {
                    let function = of_inputs(&[ty, ty, ty], |b, values| {
                        let constant = b.constant(if ty == Type::Bool { word & 1 } else { word }, ty);
                        let other = if of_uniform { uniform_value(b, ty) } else { values[0] };
                        if swapped { b.binary(op, constant, other) } else { b.binary(op, other, constant) }
                    });
                    check(&function, &Run { inputs: vec![a, a, [uniform; WAVE]], lanes: 0x7fff, helpers: 0 });
                }
            }
        }
    }

    #[test]
    fn random_programs_do_what_the_interpreter_does(
        seed in any::<u64>(),
        inputs in prop::collection::vec(lanes(), random::INPUTS),
        lanes in any::<Mask>(),
        helpers in prop_oneof![Just(0), any::<Mask>()],
    ) {
        let mut function = random::function(seed);
        let how = Run { inputs, lanes, helpers };
        check(&function, &how);
        crate::shader::passes::optimize(&mut function, &mut |_, _| {});
        check(&function, &how);
    }
}

/// A value that is the same in all lanes, of which nothing is known: a push constant.
fn uniform_value(b: &mut Builder, ty: Type) -> crate::shader::ir::Value {
    let offset = b.int(4);
    let loaded = b.load(crate::shader::ir::Space::Push, offset, if ty == Type::Bool { Type::I32 } else { ty });
    if ty == Type::Bool {
        let one = b.int(1);
        let bit = b.binary(BinaryOp::And, loaded, one);
        b.cast(bit, Type::Bool)
    } else {
        loaded
    }
}

#[test]
fn an_endless_loop_stops_at_the_time_limit() {
    let function = parse("Loop\nContinuing\nEndLoop\n").unwrap();
    for target in targets() {
        let program = program(&function, 0, Some(target));
        let deadline = Deadline::after(Duration::from_millis(30));
        let bindings = Bindings::default();
        let environment =
            Environment { bindings: &bindings, push: &[], shared: None, interpolator: None, deadline: &deadline };
        let mut wave = Wave::default();
        wave.start(&program, Mask::MAX, 0);
        assert_eq!(wave.run(&program, &environment), Stop::Interrupted);
    }
}

#[test]
fn values_live_across_a_barrier_and_a_back_edge() {
    // 40 values at once: more than any target has registers.
    let mut b = Builder::new();
    let values: Vec<_> = (0..40)
        .map(|index| {
            let (input, factor) = (b.input(0, Type::I32), b.int(index * 7 + 1));
            b.binary(BinaryOp::IMul, input, factor)
        })
        .collect();
    b.push(Inst::Barrier);
    let mut sum = b.int(0);
    for value in values {
        let mixed = b.binary(BinaryOp::Xor, sum, value);
        sum = b.binary(BinaryOp::IAdd, mixed, value);
    }
    b.push(Inst::Output { slot: 0, value: sum });
    let inputs = vec![std::array::from_fn(|lane| lane as u32 * 3 + 1)];
    check(&b.finish(), &Run { inputs, lanes: Mask::MAX, helpers: 0 });
}

#[test]
fn both_allocators_pass_regalloc_s_checker() {
    use super::{allocate, lower};
    for seed in 0..60 {
        let mut function = random::function(seed);
        let uniformity = crate::shader::passes::prepare(&mut function, |_| false);
        for target in targets() {
            let lowered = lower::lower(&function, &uniformity, target).unwrap();
            let input = allocate::Allocatable::new(&lowered.function, target);
            for algorithm in [regalloc2::Algorithm::Ion, regalloc2::Algorithm::Fastalloc] {
                let output = input.run(algorithm).unwrap();
                let environment = allocate::environment(target);
                let mut checker = regalloc2::checker::Checker::new(&input, &environment);
                checker.prepare(&output);
                checker.run().unwrap_or_else(|errors| panic!("{target:?} {algorithm:?}: {errors:?}\n{function}"));
            }
        }
    }
}

#[test]
fn what_is_encoded_decodes_without_an_invalid_instruction() {
    for seed in 0..60 {
        let mut function = random::function(seed);
        let uniformity = crate::shader::passes::prepare(&mut function, |_| false);
        for target in targets() {
            let code = generate_with(&function, &uniformity, target, regalloc2::Algorithm::Ion).unwrap().code;
            let mut decoder = iced_x86::Decoder::new(64, &code.bytes[code.entry..], iced_x86::DecoderOptions::NONE);
            let mut last = iced_x86::Instruction::default();
            while decoder.can_decode() {
                last = decoder.decode();
                assert!(!last.is_invalid(), "{}", super::disassemble(&code.bytes, code.entry));
            }
            assert!(last.code() == iced_x86::Code::Retnq);
        }
    }
}

/// Cases of each random test: `VITRIC_CASES`, by default as many as take a second or two.
fn cases() -> u32 {
    std::env::var("VITRIC_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(48)
}
