//! Wave sharing: decides whether workgroups of a compute program may share waves. Without sharing,
//! workgroups of few invocations leave most lanes idle.
//!
//! The program must not distinguish lanes of different workgroups, and no workgroup may wait for
//! another. A loop that waits for a store that another lane executes after the loop would never
//! end in that lane's wave. Loops must therefore not read memory that the program writes.

use super::pair::{depends_on_wave, has_effect};
use crate::{Inst, Space, Value};

/// Memory that an instruction accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Memory {
    /// Memory of the resource with this index.
    Resource(u32),
    /// Any memory, by address.
    Address,
}

/// Returns true if the workgroups of a compute program with this code may share waves.
pub fn may_share(insts: &[Inst]) -> bool {
    let constants: Vec<Value> = insts.iter().filter_map(constant).collect();
    let is_known = |element: Option<Value>| element.is_none_or(|element| constants.contains(&element));
    // A program may rely on all lanes of its workgroup accessing the same array element.
    if insts.iter().any(distinguishes_lanes) || !insts.iter().flat_map(elements).all(is_known) {
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
        depth == 0 || !may_read_stores(inst) || !memory(inst).is_some_and(|memory| written.contains(&memory))
    })
}

fn constant(inst: &Inst) -> Option<Value> {
    if let Inst::Const { result, .. } = inst { Some(*result) } else { None }
}

fn distinguishes_lanes(inst: &Inst) -> bool {
    let is_matrix = matches!(inst, Inst::MatrixLoad(_) | Inst::MatrixStore(_) | Inst::MatrixMultiply(_));
    let reads_lanes = matches!(inst, Inst::Lane { .. } | Inst::Ballot { .. } | Inst::Shuffle { .. });
    depends_on_wave(inst) || is_matrix || reads_lanes
}

/// Returns the array elements of bindings that an instruction accesses.
fn elements(inst: &Inst) -> [Option<Value>; 2] {
    match inst {
        Inst::BufferLength { element, .. } => [*element, None],
        Inst::Image(image) => [image.element, image.sampler.and_then(|(_, element)| element)],
        _ => match inst.space() {
            Some(Space::Buffer { element, .. }) => [*element, None],
            Some(Space::Far { high, .. }) => [Some(*high), None],
            _ => [None; 2],
        },
    }
}

/// Returns true if an instruction may return a value that another lane stored.
fn may_read_stores(inst: &Inst) -> bool {
    !matches!(inst, Inst::Store { .. } | Inst::StorePart { .. })
}

/// Returns the memory that an instruction accesses, if other workgroups can access it, too.
fn memory(inst: &Inst) -> Option<Memory> {
    match (inst, inst.space()) {
        (Inst::Image(image), _) => Some(Memory::Resource(image.resource)),
        (_, Some(Space::Address { .. })) => Some(Memory::Address),
        (_, space) => space.and_then(|space| space.resource()).map(Memory::Resource),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BinaryOp, Builder, Type};

    const WRITTEN: Space = Space::Buffer { resource: 0, element: None };
    const READ: Space = Space::Buffer { resource: 1, element: None };

    /// Returns a program that reads a word, in a loop or before it, and writes to the first
    /// buffer.
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
