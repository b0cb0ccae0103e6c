//! Loop-invariant code motion: moves computations that use only values from outside of a loop in
//! front of it.
//!
//! Every operation is defined for all operands, so it is safe to compute an operation that the
//! loop would not reach. Constants and parameters stay, because executors materialize them where
//! they are used.
//!
//! Instructions inside an `If` stay, except in kernels, whose loops are expected to reach them (see
//! [`run_through_ifs`]). In kernels, parameters move too, because moved instructions may use them.
//!
//! Unreachable code stays, because its operands need not be defined in front of the loop.

use super::cse::changes_memory;
use crate::{Function, Inst, RegionKind, Regions, Space, reachable};

/// Maximum number of instructions that move in front of one loop. Each of them occupies a register
/// throughout the loop.
const MAX_HOISTED: usize = 16;

/// Moves invariant instructions out of loops.
pub fn run(function: &mut Function) {
    move_out(function, (MAX_HOISTED, false));
}

/// Moves invariant instructions out of loops and of the `If`s in them, without a limit on their
/// number.
pub fn run_through_ifs(function: &mut Function) {
    move_out(function, (usize::MAX, true));
}

fn move_out(function: &mut Function, (most, through_ifs): (usize, bool)) {
    let regions = Regions::new(function);
    if regions.list.iter().all(|region| region.kind != RegionKind::Loop) {
        return;
    }
    let (stores, reachable) = (function.insts.iter().any(changes_memory), reachable(function));
    let mut defined_in = vec![0; function.types.len()];
    let mut moved: Vec<Vec<Inst>> = vec![Vec::new(); regions.list.len()];
    let mut stays = vec![true; function.insts.len()];
    for (at, inst) in function.insts.iter().enumerate() {
        let mut place = (regions.of[at], None);
        if reachable[at] && (is_movable(inst, stores) || through_ifs && matches!(inst, Inst::Parameter { .. })) {
            place = outermost(&regions, inst, (regions.of[at], through_ifs), &defined_in);
        }
        if let Some(in_front) = place.1
            && moved[in_front as usize].len() < most
        {
            moved[in_front as usize].push(inst.clone());
            stays[at] = false;
        } else {
            place.0 = regions.of[at];
        }
        inst.results().for_each(|value| defined_in[value.0 as usize] = place.0);
    }
    let mut out = Vec::with_capacity(function.insts.len());
    for (at, inst) in std::mem::take(&mut function.insts).into_iter().enumerate() {
        if matches!(inst, Inst::Loop) {
            out.append(&mut moved[regions.of[at] as usize]);
        }
        if stays[at] {
            out.push(inst);
        }
    }
    function.insts = out;
}

fn is_movable(inst: &Inst, stores: bool) -> bool {
    match inst {
        Inst::Unary { .. } | Inst::Binary { .. } | Inst::Ternary { .. } | Inst::TableLoad { .. } => true,
        Inst::Input { .. } | Inst::BufferLength { .. } => true,
        Inst::Load { space, .. } if space.is_pushed() => true,
        Inst::Load { space: Space::Buffer { .. }, .. } => !stores,
        _ => false,
    }
}

/// Returns the outermost region that an instruction may move to, and the loop in front of which it
/// is placed.
fn outermost(
    regions: &Regions,
    inst: &Inst,
    (region, through_ifs): (u32, bool),
    defined_in: &[u32],
) -> (u32, Option<u32>) {
    let (mut best, mut in_front) = (region, None);
    let mut current = region;
    let is_left = |kind| matches!(kind, RegionKind::Loop | RegionKind::Block) || through_ifs && kind == RegionKind::If;
    while is_left(regions.get(current).kind) {
        let mut outside = true;
        inst.operands(|value| {
            let definition = defined_in[value.0 as usize];
            outside &= definition != current && !regions.chain(definition).any(|around| around == current);
        });
        if !outside {
            break;
        }
        let parent = regions.get(current).parent;
        if regions.get(current).kind == RegionKind::Loop {
            (best, in_front) = (parent, Some(current));
        }
        current = parent;
    }
    (best, in_front)
}
