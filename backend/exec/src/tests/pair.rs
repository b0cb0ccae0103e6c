//! Tests of functions that compute two waves at once.

use vitric_ir::passes::pair::{Effects, run};
use vitric_ir::{
    BinaryOp as B, Builder, Function, Inst, Space, TernaryOp as T, Type, UnaryOp as U, verify, verify_strictly,
};

use crate::testing::run_everywhere;

/// Returns a function of two inputs that differ between the waves and one that does not. The
/// latter is the iteration count of a loop.
fn function() -> Function {
    let mut b = Builder::new();
    let [x, y] = [0, 1].map(|slot| b.input(slot, Type::F32));
    let turns = b.input(2, Type::I32);
    let (state, counter) = (b.local(2), b.local(1));
    b.local_store(state, 0, None, x);
    b.local_store(state, 1, None, y);
    let (zero, one) = (b.int(0), b.int(1));
    b.local_store(counter, 0, None, zero);
    b.push(Inst::Loop);
    let count = b.local_load(counter, 0, None, Type::I32);
    let done = b.binary(B::ULe, turns, count);
    b.push(Inst::If { condition: done });
    b.push(Inst::Break { depth: 0 });
    b.push(Inst::EndIf);
    for step in 0..12u8 {
        let [x, y] = [0, 1].map(|word| b.local_load(state, word, None, Type::F32));
        let factor = b.float(f32::from(step) * 0.125);
        let sum = b.ternary(T::Fma, x, factor, y);
        let rest = b.unary(U::Floor, sum);
        let next = b.binary(B::FSub, sum, rest);
        b.local_store(state, u32::from(step % 2), None, next);
    }
    let next = b.binary(B::IAdd, count, one);
    b.local_store(counter, 0, None, next);
    b.push(Inst::Continuing);
    b.push(Inst::EndLoop);
    let results = [0, 1].map(|word| b.local_load(state, word, None, Type::F32));
    let slope = b.unary(U::DdxFine, results[0]);
    for (slot, value) in (0..).zip(results.into_iter().chain([slope])) {
        b.push(Inst::Output { slot, value });
    }
    b.finish()
}

#[test]
fn both_waves_compute_what_one_does() {
    let function = function();
    let paired = run(&function, (3, 3), Effects::Refused, |slot| slot == 2).unwrap();
    assert_eq!((verify(&paired), verify_strictly(&paired)), (Ok(()), Ok(())));
    // The counter and values computed from it are not duplicated.
    let count =
        |function: &Function, wanted: fn(&Inst) -> bool| function.insts.iter().filter(|inst| wanted(inst)).count();
    let (compares, loads) =
        (|inst: &Inst| matches!(inst, Inst::If { .. }), |inst: &Inst| matches!(inst, Inst::LocalLoad { .. }));
    assert_eq!((count(&paired, compares), count(&function, compares)), (1, 1));
    assert_eq!(count(&paired, loads), count(&function, loads) * 2 - 1);
    let lane = |number: u32| {
        let float = |step: u32| (number as f32 * 0.37 + step as f32).to_bits();
        vec![float(1), float(2), 5]
    };
    let expected = std::cell::RefCell::new(Vec::new());
    run_everywhere(&function, &(0..32).map(lane).collect::<Vec<_>>(), 3, |_, output| {
        expected.borrow_mut().push(output.to_vec());
    });
    let expected = expected.into_inner();
    // Lane `n` of the second wave has the inputs of invocation `n + 16`.
    let pairs: Vec<Vec<u32>> = (0..16).map(|number| [lane(number), lane(number + 16)].concat()).collect();
    let next = std::cell::Cell::new(0);
    run_everywhere(&paired, &pairs, 6, |_, output| {
        let number = next.replace((next.get() + 1) % 16);
        assert_eq!(output[..3], expected[number]);
        assert_eq!(output[3..], expected[number + 16]);
    });
}

/// Checks that both waves keep their atomics and stores. Each invocation increments a counter and
/// writes to the index in its input.
#[test]
fn both_waves_have_their_effects() {
    let mut b = Builder::new();
    let buffer = Space::Buffer { resource: 0, element: None };
    let (index, zero, one) = (b.input(0, Type::I32), b.int(0), b.int(1));
    let taken = b.value(Type::I32);
    b.push(Inst::Loop);
    let (op, comparator) = (vitric_ir::AtomicOp::Add, None);
    b.push(Inst::Atomic { result: taken, space: buffer, offset: zero, op, value: one, comparator });
    let four = b.int(4);
    let offset = b.binary(B::IMul, index, four);
    b.push(Inst::Store { space: buffer, offset, value: one });
    b.push(Inst::Break { depth: 0 });
    b.push(Inst::Continuing);
    b.push(Inst::EndLoop);
    let paired = run(&b.finish(), (1, 0), Effects::Allowed, |_| false).unwrap();
    assert_eq!(verify(&paired), Ok(()));
    let count = |wanted: fn(&Inst) -> bool| paired.insts.iter().filter(|inst| wanted(inst)).count();
    assert_eq!(count(|inst| matches!(inst, Inst::Atomic { .. })), 2);
    assert_eq!(count(|inst| matches!(inst, Inst::Store { .. })), 2);
}

#[test]
fn what_may_part_the_waves_is_left_alone() {
    let function = function();
    assert!(run(&function, (3, 3), Effects::Refused, |_| false).is_none(), "the loop would turn differently");
    let mut killing = function.clone();
    killing.insts.push(Inst::Kill);
    assert!(run(&killing, (3, 3), Effects::Allowed, |slot| slot == 2).is_none());
}
