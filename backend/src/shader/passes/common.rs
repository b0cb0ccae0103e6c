//! Common subexpressions: what an enclosing region computed already is not computed again.

use std::collections::HashMap;

use crate::shader::ir::{Function, Inst, Space, Value, map_operands, map_results, results};

/// Replaces repeated computations by their first one.
pub fn run(function: &mut Function) {
    let stores = function.insts.iter().any(changes_memory);
    let mut replaced: HashMap<Value, Value> = HashMap::new();
    let mut first: HashMap<Key, Value> = HashMap::new();
    let (mut made, mut marks): (Vec<Key>, Vec<usize>) = (Vec::new(), Vec::new());
    function.insts.retain_mut(|inst| {
        map_operands(inst, |value| replaced.get(&value).copied().unwrap_or(value));
        match inst {
            Inst::If { .. } | Inst::Block | Inst::Loop => marks.push(made.len()),
            Inst::Else | Inst::Continuing => forget(&mut first, &mut made, marks.last().copied()),
            Inst::EndIf | Inst::EndBlock | Inst::EndLoop => forget(&mut first, &mut made, marks.pop()),
            _ => {}
        }
        let (Some(&result), Some(key)) = (results(inst).first(), key(inst, stores)) else { return true };
        match first.get(&key) {
            Some(&value) if function.types[value.0 as usize] == function.types[result.0 as usize] => {
                replaced.insert(result, value);
                false
            }
            Some(_) => true,
            None => {
                first.insert(key.clone(), result);
                made.push(key);
                true
            }
        }
    });
}

/// An instruction without its result.
type Key = Inst;

fn forget(first: &mut HashMap<Key, Value>, made: &mut Vec<Key>, mark: Option<usize>) {
    for key in made.drain(mark.unwrap_or(0)..) {
        first.remove(&key);
    }
}

fn changes_memory(inst: &Inst) -> bool {
    matches!(inst, Inst::Store { .. } | Inst::Atomic { .. } | Inst::Barrier)
}

/// What an instruction computes, if that depends on nothing but its operands.
fn key(inst: &Inst, stores: bool) -> Option<Key> {
    let pure = match inst {
        Inst::Unary { .. } | Inst::Binary { .. } | Inst::Ternary { .. } | Inst::TableLoad { .. } => true,
        Inst::Input { .. } | Inst::BufferLength { .. } | Inst::IsHelper { .. } => true,
        Inst::Load { space: Space::Push, .. } => true,
        Inst::Load { space: Space::Buffer { .. }, .. } => !stores,
        _ => false,
    };
    pure.then(|| {
        let mut key = inst.clone();
        map_results(&mut key, |_| Value(0));
        key
    })
}
