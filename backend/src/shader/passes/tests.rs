//! What the passes keep and drop.

use super::optimize;
use crate::shader::ir::{BinaryOp, Builder, Inst, Type, verify};

fn count(insts: &[Inst], wanted: impl Fn(&Inst) -> bool) -> usize {
    insts.iter().filter(|inst| wanted(inst)).count()
}

fn is_load(inst: &Inst) -> bool {
    matches!(inst, Inst::LocalLoad { .. })
}

fn is_store(inst: &Inst) -> bool {
    matches!(inst, Inst::LocalStore { .. })
}

#[test]
fn a_straight_line_needs_no_locals() {
    let mut b = Builder::new();
    let local = b.local(2);
    let input = b.input(0, Type::I32);
    b.local_store(local, 1, None, input);
    let loaded = b.local_load(local, 1, None, Type::I32);
    let double = b.binary(BinaryOp::IAdd, loaded, loaded);
    b.local_store(local, 0, None, double);
    let out = b.local_load(local, 0, None, Type::I32);
    b.push(Inst::Output { slot: 0, value: out });
    let mut function = b.finish();
    optimize(&mut function, &mut |_, _| {});
    verify(&function).unwrap();
    assert_eq!(function.insts.len(), 3, "{:?}", function.insts);
    assert_eq!(function.types.len(), 2);
}

#[test]
fn a_store_on_one_side_is_seen_after_the_branch() {
    let mut b = Builder::new();
    let local = b.local(1);
    let (one, two) = (b.int(1), b.int(2));
    let condition = b.input(0, Type::Bool);
    b.local_store(local, 0, None, one);
    b.push(Inst::If { condition });
    b.local_store(local, 0, None, two);
    b.push(Inst::Else);
    let kept = b.local_load(local, 0, None, Type::I32);
    b.push(Inst::Output { slot: 1, value: kept });
    b.push(Inst::EndIf);
    let out = b.local_load(local, 0, None, Type::I32);
    b.push(Inst::Output { slot: 0, value: out });
    let mut function = b.finish();
    optimize(&mut function, &mut |_, _| {});
    verify(&function).unwrap();
    assert_eq!((count(&function.insts, is_load), count(&function.insts, is_store)), (1, 2));
}

#[test]
fn a_loop_does_not_see_values_from_before_it_stores() {
    let mut b = Builder::new();
    let local = b.local(2);
    let zero = b.int(0);
    b.local_store(local, 0, None, zero);
    b.local_store(local, 1, None, zero);
    b.push(Inst::Loop);
    let counter = b.local_load(local, 0, None, Type::I32);
    let fixed = b.local_load(local, 1, None, Type::I32);
    b.push(Inst::If { condition: counter });
    b.push(Inst::Break { depth: 0 });
    b.push(Inst::EndIf);
    b.push(Inst::Continuing);
    let next = b.binary(BinaryOp::ISub, fixed, counter);
    b.local_store(local, 0, None, next);
    b.push(Inst::EndLoop);
    let mut function = b.finish();
    optimize(&mut function, &mut |_, _| {});
    verify(&function).unwrap();
    // The counter is loaded in each iteration; the other word is forwarded and its store is gone.
    assert_eq!((count(&function.insts, is_load), count(&function.insts, is_store)), (1, 2));
}

#[test]
fn a_dynamic_store_ends_what_is_known_of_its_local() {
    let mut b = Builder::new();
    let (first, second) = (b.local(4), b.local(1));
    let index = b.input(0, Type::I32);
    b.local_store(first, 0, None, index);
    b.local_store(second, 0, None, index);
    b.local_store(first, 0, Some(index), index);
    let unknown = b.local_load(first, 0, None, Type::I32);
    let known = b.local_load(second, 0, None, Type::I32);
    b.push(Inst::Output { slot: 0, value: unknown });
    b.push(Inst::Output { slot: 1, value: known });
    let mut function = b.finish();
    optimize(&mut function, &mut |_, _| {});
    verify(&function).unwrap();
    assert_eq!((count(&function.insts, is_load), count(&function.insts, is_store)), (1, 2));
}
