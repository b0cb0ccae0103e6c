//! Which compute programs' workgroups may share waves: those of few invocations would leave most lanes idle.
//!
//! Nothing in the program may tell lanes of one workgroup from those of another, or make one workgroup wait for another: a loop that waits
//! for what a lane stores behind the loop would never end in the wave of that lane. So loops may not look at memory that the program
//! writes.

use super::pair::{has_effect, parts_waves};
use crate::{Inst, Space, Value};

/// Memory that instructions reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Memory {
    /// Of a resource.
    Resource(u32),
    /// Any, by address.
    Address,
}

/// Whether the workgroups of a compute program with this code may share waves.
pub fn may_share(insts: &[Inst]) -> bool {
    let constants: Vec<Value> = insts.iter().filter_map(constant).collect();
    let is_known = |element: Option<Value>| element.is_none_or(|element| constants.contains(&element));
    // Lanes of one workgroup may be told that they name one resource.
    if insts.iter().any(tells_lanes_apart) || !insts.iter().flat_map(elements).all(is_known) {
        return false;
    }
    let written: Vec<Memory> = insts.iter().filter(|inst| has_effect(inst)).filter_map(memory).collect();
    let mut depth = 0usize;
    insts.iter().all(|inst| {
        match inst {
            Inst::Loop => depth += 1,
            Inst::EndLoop => depth -= 1,
            _ => {}
        }
        depth == 0 || !looks(inst) || !memory(inst).is_some_and(|memory| written.contains(&memory))
    })
}

fn constant(inst: &Inst) -> Option<Value> {
    if let Inst::Const { result, .. } = inst { Some(*result) } else { None }
}

fn tells_lanes_apart(inst: &Inst) -> bool {
    parts_waves(inst) || matches!(inst, Inst::Lane { .. } | Inst::Ballot { .. } | Inst::Shuffle { .. })
}

/// Elements of bindings that an instruction names.
fn elements(inst: &Inst) -> [Option<Value>; 2] {
    let of = |space: &Space| if let Space::Buffer { element, .. } = space { *element } else { None };
    match inst {
        Inst::Load { space, .. }
        | Inst::Store { space, .. }
        | Inst::StorePart { space, .. }
        | Inst::Atomic { space, .. } => [of(space), None],
        Inst::Atomic64(atomic) => [of(&atomic.space), None],
        Inst::BufferLength { element, .. } => [*element, None],
        Inst::Image(image) => [image.element, image.sampler.and_then(|(_, element)| element)],
        _ => [None; 2],
    }
}

/// Whether an instruction gives what others may have stored.
fn looks(inst: &Inst) -> bool {
    !matches!(inst, Inst::Store { .. } | Inst::StorePart { .. })
}

/// The memory that an instruction reaches which others may see.
fn memory(inst: &Inst) -> Option<Memory> {
    let of = |space: &Space| match space {
        Space::Buffer { resource, .. } => Some(Memory::Resource(*resource)),
        Space::Address { .. } => Some(Memory::Address),
        _ => None,
    };
    match inst {
        Inst::Load { space, .. }
        | Inst::Store { space, .. }
        | Inst::StorePart { space, .. }
        | Inst::Atomic { space, .. } => of(space),
        Inst::Atomic64(atomic) => of(&atomic.space),
        Inst::Image(image) => Some(Memory::Resource(image.resource)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BinaryOp, Builder, Type};

    const WRITTEN: Space = Space::Buffer { resource: 0, element: None };
    const READ: Space = Space::Buffer { resource: 1, element: None };

    /// Reads a word, in a loop or before it, and writes to the first buffer.
    fn program(read: Space, in_loop: bool, lane: bool) -> Vec<Inst> {
        let mut b = Builder::new();
        let (at, zero) = (b.input(0, Type::I32), b.int(0));
        let at = if lane { b.lane() } else { at };
        let before = b.load(if in_loop { READ } else { read }, at, Type::I32);
        b.push(Inst::Loop);
        let word = if in_loop { b.load(read, at, Type::I32) } else { before };
        let ends = b.binary(BinaryOp::INe, word, zero);
        b.push(Inst::If { condition: ends });
        b.push(Inst::Break { depth: 0 });
        b.push(Inst::EndIf);
        b.push(Inst::Continuing);
        b.push(Inst::EndLoop);
        b.push(Inst::Store { space: WRITTEN, offset: at, value: before });
        b.finish().insts
    }

    #[test]
    fn loops_may_not_wait_for_what_the_program_stores() {
        assert!(may_share(&program(READ, true, false)));
        assert!(may_share(&program(WRITTEN, false, false)));
        assert!(!may_share(&program(WRITTEN, true, false)));
    }

    #[test]
    fn lanes_may_not_know_their_neighbours() {
        assert!(!may_share(&program(READ, true, true)));
    }

    #[test]
    fn elements_may_not_differ() {
        let of = |differs: bool| {
            let mut b = Builder::new();
            let (at, three) = (b.input(0, Type::I32), b.int(3));
            let element = Some(if differs { at } else { three });
            b.load(Space::Buffer { resource: 0, element }, at, Type::I32);
            b.finish().insts
        };
        assert!(may_share(&of(false)) && !may_share(&of(true)));
    }
}
