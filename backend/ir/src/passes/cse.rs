//! Common subexpression elimination. A computation is replaced if an enclosing region already
//! contains an identical one.

use foldhash::HashMap;

use crate::{Function, Inst, Space, Value};

/// Replaces repeated computations by their first occurrence.
pub fn run(function: &mut Function) {
    let facts =
        Facts { stores: function.insts.iter().any(changes_memory), demotes: function.insts.contains(&Inst::Demote) };
    let mut replaced: HashMap<Value, Value> = HashMap::default();
    let mut first: HashMap<Key, Value> = HashMap::default();
    let (mut made, mut marks): (Vec<Key>, Vec<usize>) = (Vec::new(), Vec::new());
    function.insts.retain_mut(|inst| {
        inst.map_operands(|value| replaced.get(&value).copied().unwrap_or(value));
        match inst {
            Inst::If { .. } | Inst::Block | Inst::Loop => marks.push(made.len()),
            Inst::Else | Inst::Continuing => remove_since(&mut first, &mut made, marks.last().copied()),
            Inst::EndIf | Inst::EndBlock | Inst::EndLoop => remove_since(&mut first, &mut made, marks.pop()),
            _ => {}
        }
        let (Some(result), Some(key)) = (inst.results().next(), key(inst, facts)) else { return true };
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

/// Properties of a whole function.
#[derive(Clone, Copy)]
struct Facts {
    /// True if an instruction of the function changes memory (see [`changes_memory`]).
    stores: bool,
    /// True if the function contains `Demote`.
    demotes: bool,
}

/// Instruction with its result cleared.
type Key = Inst;

fn remove_since(first: &mut HashMap<Key, Value>, made: &mut Vec<Key>, mark: Option<usize>) {
    for key in made.drain(mark.unwrap_or(0)..) {
        first.remove(&key);
    }
}

/// Returns true if loads after the instruction may return other words than loads before it.
pub(super) fn changes_memory(inst: &Inst) -> bool {
    // Buffers never alias a workgroup's shared memory.
    if let Inst::Store { space: Space::Shared, .. } | Inst::StorePart { space: Space::Shared, .. } = inst {
        return false;
    }
    if let Inst::MatrixStore(store) = inst {
        return store.space != Space::Shared;
    }
    matches!(
        inst,
        Inst::Store { .. } | Inst::StorePart { .. } | Inst::Atomic { .. } | Inst::Atomic64(_) | Inst::Barrier
    )
}

/// Returns the key of an instruction whose result depends only on its operands, or `None` for
/// other instructions.
fn key(inst: &Inst, facts: Facts) -> Option<Key> {
    let pure = match inst {
        Inst::Unary { .. } | Inst::Binary { .. } | Inst::Ternary { .. } | Inst::TableLoad { .. } => true,
        Inst::Input { .. } | Inst::Parameter { .. } | Inst::BufferLength { .. } | Inst::Lane { .. } => true,
        Inst::Ballot { .. } | Inst::Shuffle { .. } => true,
        Inst::IsHelper { .. } => !facts.demotes,
        Inst::Load { space, .. } if space.is_pushed() => true,
        Inst::Load { space, .. } if space.is_buffer() => !facts.stores,
        _ => false,
    };
    pure.then(|| {
        let mut key = inst.clone();
        key.map_results(|_| Value(0));
        key
    })
}
