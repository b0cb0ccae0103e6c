//! Dead code: stores to words that are never loaded, operations whose results nobody uses, empty `If`s; then values are
//! numbered anew, so that the registers of a wave lie close together.

use std::collections::HashSet;

use crate::shader::ir::{AtomicOp, Function, Inst, Value, map_operands, map_results, operands, results};

/// Drops dead code and renumbers values.
pub fn run(function: &mut Function) {
    drop_stores(function);
    drop_unused(function);
    drop_empty(function);
    renumber(function);
}

/// Stores to words that no load can see.
fn drop_stores(function: &mut Function) {
    let (mut words, mut whole, mut loaded) = (HashSet::new(), HashSet::new(), HashSet::new());
    for inst in &function.insts {
        if let Inst::LocalLoad { local, .. } = inst {
            loaded.insert(*local);
        }
        match inst {
            Inst::LocalLoad { local, base, index: None, .. } => drop(words.insert((*local, *base))),
            Inst::LocalLoad { local, .. } => drop(whole.insert(*local)),
            _ => {}
        }
    }
    function.insts.retain(|inst| match inst {
        Inst::LocalStore { local, base, index: None, .. } => whole.contains(local) || words.contains(&(*local, *base)),
        Inst::LocalStore { local, .. } => loaded.contains(local),
        _ => true,
    });
}

/// Operations without effect whose results are not used: definitions come before uses, so one walk back finds them.
fn drop_unused(function: &mut Function) {
    let mut used: HashSet<Value> = HashSet::new();
    let mut kept: Vec<Inst> = Vec::with_capacity(function.insts.len());
    for inst in std::mem::take(&mut function.insts).into_iter().rev() {
        let defined = results(&inst);
        if has_effect(&inst) || defined.iter().any(|value| used.contains(value)) {
            operands(&inst, |value| {
                used.insert(value);
            });
            kept.push(inst);
        }
    }
    kept.reverse();
    function.insts = kept;
}

fn has_effect(inst: &Inst) -> bool {
    match inst {
        Inst::Atomic { op, .. } => *op != AtomicOp::Load,
        Inst::Atomic64(atomic) => atomic.op != AtomicOp::Load,
        Inst::Image(image) => image.op.has_effect(),
        _ => results(inst).is_empty(),
    }
}

/// `If`s with nothing in them.
fn drop_empty(function: &mut Function) {
    let mut kept: Vec<Inst> = Vec::with_capacity(function.insts.len());
    for inst in std::mem::take(&mut function.insts) {
        if inst == Inst::EndIf {
            if kept.last() == Some(&Inst::Else) {
                kept.pop();
            }
            if matches!(kept.last(), Some(Inst::If { .. })) {
                kept.pop();
                continue;
            }
        }
        kept.push(inst);
    }
    function.insts = kept;
}

/// Numbers values anew.
pub(super) fn renumber(function: &mut Function) {
    let mut numbers: Vec<Option<Value>> = vec![None; function.types.len()];
    let mut types = Vec::new();
    for inst in &function.insts {
        for value in results(inst) {
            numbers[value.0 as usize] = Some(Value(types.len() as u32));
            types.push(function.types[value.0 as usize]);
        }
    }
    let number = |value: Value| numbers[value.0 as usize].unwrap_or(value);
    for inst in &mut function.insts {
        map_operands(inst, number);
        map_results(inst, number);
    }
    function.types = types;
}
