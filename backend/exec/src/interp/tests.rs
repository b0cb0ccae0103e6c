//! Tests of the interpreter's control flow and masks on hand-built functions.

use std::time::Duration;

use ash::vk;
use vitric_base::simd::{Lanes, Mask};
use vitric_ir::interface::{InputSlot, Interface, Interpolation, OutputSlot, Place, Shader, Slot};
use vitric_ir::passes::LaneVariance;
use vitric_ir::{BinaryOp, Builder, Function, Inst, Type, verify};

use super::*;
use crate::bindings::Bindings;
use crate::{Executable, Program};

fn program(function: Function) -> Program {
    verify(&function).unwrap();
    let slot = Slot::Location { location: 0, component: 0, index: 0 };
    let interface = Interface {
        inputs: vec![InputSlot { slot, ty: Type::I32, interpolation: Interpolation::Flat, place: Place::Center }],
        outputs: vec![OutputSlot { slot, ty: Type::I32, feedback: None }],
        local_size: [16, 1, 1],
        ..Interface::new(vk::ShaderStageFlags::COMPUTE)
    };
    Program {
        code: Executable::new(function, |_| LaneVariance::Divergent),
        ..Program::interpreted(Shader { interface, function: Function::default() })
    }
}

/// Runs a program whose input is the lane's number. Returns the output, or why it stopped early.
fn run(program: &Program, lanes: Mask, limit: Duration) -> Result<Lanes, Stop> {
    let deadline = Deadline::after(limit);
    let bindings = Bindings::default();
    let environment = Environment::new(&bindings, &deadline);
    let mut wave = Wave::default();
    wave.start(program, lanes, 0);
    wave.inputs[0] = std::array::from_fn(|lane| lane as u32);
    match wave.run(program, &environment) {
        Stop::Done => Ok(wave.outputs[0]),
        stop => Err(stop),
    }
}

const LONG: Duration = Duration::from_secs(100);

/// Returns this function: `sum = 0; for (i = 0; ; i++) { if (i >= lane) break; if (i == 3)
/// continue; sum += i; }`
fn sum_without_three() -> Function {
    let mut b = Builder::new();
    let lane = b.input(0, Type::I32);
    let (zero, one, three) = (b.int(0), b.int(1), b.int(3));
    let locals = b.local(2);
    b.local_store(locals, 0, None, zero);
    b.local_store(locals, 1, None, zero);
    b.push(Inst::Loop);
    let i = b.local_load(locals, 0, None, Type::I32);
    let done = b.binary(BinaryOp::SLe, lane, i);
    b.push(Inst::If { condition: done });
    b.push(Inst::Break { depth: 0 });
    b.push(Inst::EndIf);
    let skip = b.binary(BinaryOp::IEq, i, three);
    b.push(Inst::If { condition: skip });
    b.push(Inst::Continue { depth: 0 });
    b.push(Inst::EndIf);
    let sum = b.local_load(locals, 1, None, Type::I32);
    let sum = b.binary(BinaryOp::IAdd, sum, i);
    b.local_store(locals, 1, None, sum);
    b.push(Inst::Continuing);
    let next = b.binary(BinaryOp::IAdd, i, one);
    b.local_store(locals, 0, None, next);
    b.push(Inst::EndLoop);
    let sum = b.local_load(locals, 1, None, Type::I32);
    b.push(Inst::Output { slot: 0, value: sum });
    b.finish()
}

#[test]
fn lanes_leave_a_loop_one_by_one() {
    let expected: Lanes = std::array::from_fn(|lane| (0..lane as u32).filter(|&i| i != 3).sum());
    assert_eq!(run(&program(sum_without_three()), Mask::MAX, LONG), Ok(expected));
}

#[test]
fn inactive_lanes_write_nothing() {
    let out = run(&program(sum_without_three()), 0b1000_0000, LONG).unwrap();
    assert_eq!(out[7], 18);
    assert!(out.iter().enumerate().all(|(lane, &word)| lane == 7 || word == 0));
}

#[test]
fn a_value_defined_in_a_loop_keeps_each_lanes_last_iteration() {
    let mut b = Builder::new();
    let lane = b.input(0, Type::I32);
    let (zero, one) = (b.int(0), b.int(1));
    let local = b.local(1);
    b.local_store(local, 0, None, zero);
    b.push(Inst::Loop);
    let i = b.local_load(local, 0, None, Type::I32);
    let double = b.binary(BinaryOp::IAdd, i, i);
    let done = b.binary(BinaryOp::SLe, lane, i);
    b.push(Inst::If { condition: done });
    b.push(Inst::Break { depth: 0 });
    b.push(Inst::EndIf);
    b.push(Inst::Continuing);
    let next = b.binary(BinaryOp::IAdd, i, one);
    b.local_store(local, 0, None, next);
    b.push(Inst::EndLoop);
    b.push(Inst::Output { slot: 0, value: double });
    let expected: Lanes = std::array::from_fn(|lane| 2 * lane as u32);
    assert_eq!(run(&program(b.finish()), Mask::MAX, LONG), Ok(expected));
}

#[test]
fn a_break_out_of_two_regions_rejoins_after_the_outer_one() {
    let mut b = Builder::new();
    let lane = b.input(0, Type::I32);
    let (five, seven, nine) = (b.int(5), b.int(7), b.int(9));
    let low = b.binary(BinaryOp::SLt, lane, five);
    b.push(Inst::Block);
    b.push(Inst::Block);
    b.push(Inst::If { condition: low });
    b.push(Inst::Break { depth: 1 });
    b.push(Inst::EndIf);
    b.push(Inst::Output { slot: 0, value: seven });
    b.push(Inst::EndBlock);
    let high = b.binary(BinaryOp::SLt, nine, lane);
    b.push(Inst::If { condition: high });
    b.push(Inst::Kill);
    b.push(Inst::EndIf);
    b.push(Inst::Output { slot: 0, value: nine });
    b.push(Inst::EndBlock);
    b.push(Inst::If { condition: low });
    b.push(Inst::Output { slot: 0, value: five });
    b.push(Inst::Else);
    b.push(Inst::EndIf);
    let expected: Lanes = std::array::from_fn(|lane| match lane {
        0..5 => 5,
        5..10 => 9,
        _ => 7,
    });
    assert_eq!(run(&program(b.finish()), Mask::MAX, LONG), Ok(expected));
}

#[test]
fn an_endless_loop_is_interrupted() {
    let mut b = Builder::new();
    for inst in [Inst::Loop, Inst::Continuing, Inst::EndLoop] {
        b.push(inst);
    }
    assert_eq!(run(&program(b.finish()), 1, Duration::from_millis(20)), Err(Stop::Interrupted));
}

/// Runs a program in text form. Input 0 is the lane's number.
fn run_text(text: &str, lanes: Mask) -> Lanes {
    run(&program(vitric_ir::parse(text).unwrap()), lanes, LONG).unwrap()
}

#[test]
fn tables_and_locals_are_bounded() {
    let text = "
        local 4
        table 10 20 30
        %1: i32 = Const 7
        %0: i32 = Input 0
        %2: i32 = TableLoad t0, %0          ; 0 from lane 3 on
        LocalStore l0[1 + %0], %2           ; words 1 to 3, then nothing
        %3: i32 = LocalLoad l0[1 + %0]      ; 0 from lane 3 on
        %4: i32 = LocalLoad l0[4 + %1]      ; outside: 0
        %5: i32 = IAdd %3, %4
        Output 0, %5";
    let expected: Lanes = std::array::from_fn(|lane| [10, 20, 30].get(lane).copied().unwrap_or(0));
    assert_eq!(run_text(text, Mask::MAX), expected);
}

#[test]
fn fine_and_coarse_derivatives_are_those_of_the_quad() {
    // `f = lane * lane`, so the first quad holds 0, 1, 4, 9.
    let text = |op: &str| {
        format!(
            "%0: i32 = Input 0\n%1: f32 = UToF %0\n%2: f32 = FMul %1, %1\n%3: f32 = {op} %2\n%4: i32 = FToS %3\nOutput 0, %4"
        )
    };
    for (op, expected) in
        [("DdxFine", [1, 1, 5, 5]), ("DdxCoarse", [1; 4]), ("DdyFine", [4, 8, 4, 8]), ("DdyCoarse", [4; 4])]
    {
        assert_eq!(run_text(&text(op), Mask::MAX)[..4], expected, "{op}");
    }
}

#[test]
fn a_killed_lane_writes_nothing_more_but_the_others_go_on() {
    let text = "
        %1: i32 = Const 3
        %2: i32 = Const 100
        %0: i32 = Input 0
        Output 0, %0
        Loop
          %3: bool = IEq %0, %1
          If %3
            Kill
          EndIf
          Break 0
        Continuing
        EndLoop
        Output 0, %2";
    let out = run_text(text, 0xff);
    let expected: Lanes = std::array::from_fn(|lane| match lane {
        3 => 3,
        0..8 => 100,
        _ => 0,
    });
    assert_eq!(out, expected);
}
