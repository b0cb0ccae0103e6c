//! Tests of generated code against the interpreter, on every target of the machine. They run every
//! operation on random words, and random programs with control flow, locals, memory and jumps.
//! Encoded instructions are also decoded again.

mod addresses;
mod atomics;
mod places;
mod quads;
mod routines;
mod wide;

use std::sync::Arc;
use std::time::Duration;

use ash::vk;
use proptest::prelude::*;
use vitric_base::simd::{Lanes, Mask, WAVE};
use vitric_codegen::Target;
use vitric_ir::interface::{InputSlot, Interface, Interpolation, OutputSlot, Place, Shader, Slot};
use vitric_ir::passes::LaneVariance;
use vitric_ir::random::{self, operand_type};
use vitric_ir::{
    AtomicOp, BinaryOp, Builder, Function, Inst, Space, TernaryOp, Type, UnaryOp, parse, verify, verify_strictly,
};
use vitric_memory::{Addresses, Allocation, Heap};

use crate::bindings::Bindings;
use crate::interp::{Environment, Wave};
use crate::runtime::{Bound, Deadline, SharedMemory, Stop};
use crate::{Executable, Program};

/// Effects of a program.
#[derive(Debug, Clone, PartialEq)]
struct Outcome {
    stop: Stop,
    outputs: Vec<Lanes>,
    killed: Mask,
    buffer: Vec<u8>,
    shared: Vec<u32>,
}

/// Inputs of a program's run.
struct Run {
    inputs: Vec<Lanes>,
    lanes: Mask,
    helpers: Mask,
}

const OUTPUTS: usize = random::OUTPUTS as usize;
const BUFFER_BYTES: usize = 192;
const SHARED_BYTES: u32 = 64;

fn program(function: &Function, inputs: usize, target: Option<Target>) -> Program {
    let slot = Slot::Location { location: 0, component: 0, index: 0 };
    let input = InputSlot { slot, ty: Type::I32, interpolation: Interpolation::Flat, place: Place::Center };
    let mut code = Executable::new(function.clone(), |_| LaneVariance::Divergent);
    code.generate(target).unwrap_or_else(|problem| panic!("{problem}\n{function}"));
    let interface = Interface {
        inputs: vec![input; inputs],
        outputs: vec![OutputSlot { slot, ty: Type::I32, feedback: None }; OUTPUTS],
        shared_bytes: SHARED_BYTES,
        local_size: [16, 1, 1],
        ..Interface::new(vk::ShaderStageFlags::COMPUTE)
    };
    Program { code, ..Program::interpreted(Shader { interface, function: Function::default() }) }
}

fn run(program: &Program, run: &Run) -> Outcome {
    let deadline = Deadline::after(Duration::from_secs(100));
    let memory = Allocation::new(&Heap::new(1 << 20), BUFFER_BYTES as u64).unwrap();
    let fill: Vec<u8> = (0..BUFFER_BYTES).map(|index| (index * 37) as u8).collect();
    memory.write(0, &fill);
    // The range excludes a few bytes at both ends of the memory.
    let bindings = Bindings::new(vec![vec![Bound::Buffer(Some(memory.clone()), 8, BUFFER_BYTES as u64 - 18)]]);
    let far = Allocation::new(&Heap::new(1 << 20), BUFFER_BYTES as u64).unwrap();
    far.write(0, &fill);
    let addresses = addresses::PLACES.into_iter().zip([memory.clone(), far.clone()]).collect();
    let bindings = bindings.with_addresses(Arc::new(Addresses::new(addresses)));
    let shared = SharedMemory::new(SHARED_BYTES);
    let push: Vec<u8> = (0..32u8).map(|index| index.wrapping_mul(11)).collect();
    let environment = Environment { push: &push, shared: Some(&shared), ..Environment::new(&bindings, &deadline) };
    let mut wave = Wave::default();
    wave.start(program, run.lanes, run.helpers);
    wave.inputs.clone_from_slice(&run.inputs);
    let mut stop = wave.run(program, &environment);
    while stop == Stop::Barrier {
        stop = wave.run(program, &environment);
    }
    let mut buffer = vec![0; 2 * BUFFER_BYTES];
    let (own, other) = buffer.split_at_mut(BUFFER_BYTES);
    memory.read(0, own);
    far.read(0, other);
    let word = |index: u32| shared.word(index * 4).map_or(0, |word| word.load(std::sync::atomic::Ordering::Relaxed));
    Outcome {
        stop,
        outputs: wave.outputs.to_vec(),
        killed: wave.killed(),
        buffer,
        shared: (0..SHARED_BYTES / 4).map(word).collect(),
    }
}

fn targets() -> Vec<Target> {
    [Target::Avx2, Target::Avx512].into_iter().filter(|target| target.is_supported()).collect()
}

/// Maps all NaNs to one, because an operation on two NaNs may return either.
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
        let mut program = program(function, how.inputs.len(), Some(target));
        assert_eq!(canonical_outcome(run(&program, how)), expected, "{target:?}\n{function}");
        if (how.lanes, how.helpers) == (Mask::MAX, 0) {
            program.code = program.code.with_all_lanes();
            program.code.generate(Some(target)).unwrap_or_else(|problem| panic!("{problem}\n{function}"));
            assert_eq!(canonical_outcome(run(&program, how)), expected, "{target:?}, all lanes\n{function}");
        }
    }
}

/// Generates words of every kind: small integers, floats of every magnitude, NaN, infinities, and
/// arbitrary bits.
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
            0x007f_ffff,
            0x8080_0000,
            0x387f_ffff,
            0x3880_0000,
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

/// Returns a function that applies one operation to inputs and stores the result.
fn of_inputs(operands: &[Type], op: impl FnOnce(&mut Builder, &[vitric_ir::Value]) -> vitric_ir::Value) -> Function {
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

/// Returns a function of three inputs for every operation.
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
    fn lanes_see_each_other_and_become_helpers(a in lanes(), b in lanes(), c in lanes(), mask: Mask, helpers: Mask) {
        check(&across_lanes(), &Run { inputs: vec![a, b, c], lanes: mask, helpers });
    }

    #[test]
    fn words_of_consecutive_lanes_are_checked_one_by_one(
        a in lanes(), first in -80i32..200, mask: Mask, helpers: Mask, shared: bool,
    ) {
        let mut b = Builder::new();
        let value = b.input(0, Type::I32);
        let (lane, four, first) = (b.lane(), b.int(4), b.int((first * 4) as u32));
        let bytes = b.binary(BinaryOp::IMul, lane, four);
        let offset = b.binary(BinaryOp::IAdd, bytes, first);
        let space = if shared { Space::Shared } else { Space::Buffer { resource: 0, element: None } };
        let before = b.load(space, offset, Type::I32);
        b.push(Inst::Store { space, offset, value });
        let after = b.load(space, offset, Type::F32);
        for (slot, value) in [before, after].into_iter().enumerate() {
            b.push(Inst::Output { slot: slot as u32, value });
        }
        check(&b.finish(), &Run { inputs: vec![a], lanes: mask, helpers });
    }

    #[test]
    fn parts_of_words_are_stored_where_they_are_inside(
        a in lanes(), places in prop::array::uniform16(-4i32..200), first in -80i32..200, some: Mask, others: Mask,
        (shared, follow, bytes, all) in (any::<bool>(), any::<bool>(), 1u32..3, any::<bool>()),
    ) {
        let mut b = Builder::new();
        let [value, place] = [0, 1].map(|slot| b.input(slot, Type::I32));
        let (lane, step, first) = (b.lane(), b.int(bytes), b.int(first as u32));
        let distance = b.binary(BinaryOp::IMul, lane, step);
        let next = b.binary(BinaryOp::IAdd, distance, first);
        let offset = if follow { next } else { place };
        let space = if shared { Space::Shared } else { Space::Buffer { resource: 0, element: None } };
        b.push(Inst::StorePart { space, offset, value, bytes });
        let inputs = vec![a, places.map(|place| place as u32)];
        let (lanes, helpers) = if all { (Mask::MAX, 0) } else { (some, others) };
        check(&b.finish(), &Run { inputs, lanes, helpers });
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
        let some = Run { inputs: inputs.clone(), lanes, helpers };
        let all = Run { inputs, lanes: Mask::MAX, helpers: 0 };
        [&some, &all].into_iter().for_each(|how| check(&function, how));
        vitric_ir::passes::optimize(&mut function, &mut |_, _| {});
        [&some, &all].into_iter().for_each(|how| check(&function, how));
    }
}

/// Returns a value that is uniform but not known at compile time: a push constant.
fn uniform_value(b: &mut Builder, ty: Type) -> vitric_ir::Value {
    let offset = b.int(4);
    let loaded = b.load(vitric_ir::Space::Push, offset, if ty == Type::Bool { Type::I32 } else { ty });
    if ty == Type::Bool {
        let one = b.int(1);
        let bit = b.binary(BinaryOp::And, loaded, one);
        b.cast(bit, Type::Bool)
    } else {
        loaded
    }
}

/// Returns a function that reads other lanes inside and outside of divergent control flow, turns
/// lanes into helpers, and adds to 64-bit words in memory.
fn across_lanes() -> Function {
    let mut b = Builder::new();
    let [x, y, z] = [0, 1, 2].map(|slot| b.input(slot, Type::I32));
    let (lane, local, three) = (b.lane(), b.local(2), b.int(3));
    let shuffled = b.shuffle(x, y);
    let mirrored = b.binary(BinaryOp::Xor, lane, three);
    let float = b.cast(z, Type::F32);
    let neighbour = b.shuffle(float, mirrored);
    let odd = b.binary(BinaryOp::And, z, three);
    let condition = b.cast(odd, Type::Bool);
    b.push(Inst::If { condition });
    let active = b.is_active();
    let (less, seven) = (b.binary(BinaryOp::ULt, x, y), b.int(7));
    let counted = b.binary(BinaryOp::LogicalAnd, active, less);
    let bits = b.ballot(counted);
    b.local_store(local, 0, None, bits);
    let own = b.select(active, x, seven);
    let from = b.shuffle(own, y);
    b.local_store(local, 1, None, from);
    b.push(Inst::Demote);
    b.push(Inst::EndIf);
    let helper = b.value(Type::Bool);
    b.push(Inst::IsHelper { result: helper });
    let helpers = b.ballot(helper);
    let offset = b.int(12);
    let bytes = b.binary(BinaryOp::And, lane, three);
    let place = b.binary(BinaryOp::IAdd, offset, bytes);
    let buffer = Space::Buffer { resource: 0, element: None };
    b.push(Inst::StorePart { space: buffer, offset: place, value: x, bytes: 1 });
    b.push(Inst::StorePart { space: Space::Shared, offset, value: y, bytes: 2 });
    let stored = [0, 1].map(|word| b.local_load(local, word, None, Type::I32));
    let float = b.cast(neighbour, Type::I32);
    for (slot, value) in [shuffled, float, helpers, stored[0], stored[1]].into_iter().enumerate() {
        b.push(Inst::Output { slot: slot as u32, value });
    }
    let (added, place) = (b.join(x, y, Type::I64), b.int(16));
    let before = b.atomic64(Space::Shared, place, AtomicOp::Add, added, None);
    let [low, high] = b.split(before);
    let both = b.binary(BinaryOp::Xor, low, high);
    b.push(Inst::Output { slot: 5, value: both });
    b.finish()
}

#[test]
fn an_endless_loop_stops_at_the_time_limit() {
    let function = parse("Loop\nContinuing\nEndLoop\n").unwrap();
    for target in targets() {
        let program = program(&function, 0, Some(target));
        let deadline = Deadline::after(Duration::from_millis(30));
        let bindings = Bindings::default();
        let environment = Environment::new(&bindings, &deadline);
        let mut wave = Wave::default();
        wave.start(&program, Mask::MAX, 0);
        assert_eq!(wave.run(&program, &environment), Stop::Interrupted);
    }
}

#[test]
fn values_live_across_a_barrier_and_a_back_edge() {
    // 40 values are live at once, which exceeds the registers of every target.
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

/// Floats whose pairs combine NaN, zeros of both signs, and infinities.
const EDGES: Lanes = [
    0x7fc0_0000,
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fa0_0000,
    0xffc0_0001,
    1,
    0x8000_0001,
    0x7f7f_ffff,
    0xff7f_ffff,
    0xffa0_0001,
    0x4000_0000,
    0xc000_0000,
];

#[test]
fn the_least_and_greatest_of_numbers_are_no_nan() {
    for op in [BinaryOp::FMinNum, BinaryOp::FMaxNum] {
        for (a, b) in EDGES.into_iter().flat_map(|a| EDGES.map(|b| (a, b))) {
            let [is_nan, both] = [op.apply(a, b), if f32::from_bits(a).is_nan() { b } else { a }]
                .map(|word| f32::from_bits(word).is_nan());
            assert_eq!(is_nan, both, "{op:?} {a:#x} {b:#x}");
        }
        let of_inputs = of_inputs(&[Type::F32; 2], |b, values| b.binary(op, values[0], values[1]));
        let mixed = of_mixed(op);
        for shift in 0..WAVE {
            let others = std::array::from_fn(|lane| EDGES[(lane + shift) % WAVE]);
            for (function, lanes) in [(&of_inputs, Mask::MAX), (&mixed, Mask::MAX), (&of_inputs, 0x7e3c)] {
                check(function, &Run { inputs: vec![EDGES, others], lanes, helpers: 0 });
            }
        }
    }
}

/// Returns a function that applies an operation to divergent, uniform and constant operands.
fn of_mixed(op: BinaryOp) -> Function {
    let mut b = Builder::new();
    let (input, offset, other_offset) = (b.input(0, Type::F32), b.int(8), b.int(12));
    let [pushed, other] = [offset, other_offset].map(|offset| b.load(Space::Push, offset, Type::F32));
    let [nan, zero] = [f32::NAN, -0.0].map(|constant| b.float(constant));
    let operands = [(input, pushed), (pushed, input), (pushed, other), (nan, input), (input, zero), (other, nan)];
    for (slot, (x, y)) in operands.into_iter().enumerate() {
        let value = b.binary(op, x, y);
        b.push(Inst::Output { slot: slot as u32, value });
    }
    b.finish()
}

/// Returns the number of cases of each random test: `VITRIC_CASES`, or by default a number that
/// takes one to two seconds.
fn cases() -> u32 {
    std::env::var("VITRIC_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(48)
}
