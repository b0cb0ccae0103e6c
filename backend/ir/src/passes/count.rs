//! What passes do to a function, in numbers.

use crate::{Function, Inst, RegionKind, Regions};

/// Sizes of a function.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Instructions, constants and markers included.
    pub instructions: usize,
    /// Loads and stores of locals.
    pub locals: usize,
    /// Instructions inside of loops.
    pub in_loops: usize,
}

impl Count {
    /// The sizes of a verified function.
    pub fn of(function: &Function) -> Self {
        let regions = Regions::new(function);
        let in_loop = |region: &u32| {
            regions.chain(*region).chain([*region]).any(|around| regions.get(around).kind == RegionKind::Loop)
        };
        let is_local = |inst: &&Inst| matches!(inst, Inst::LocalLoad { .. } | Inst::LocalStore { .. });
        Self {
            instructions: function.insts.len(),
            locals: function.insts.iter().filter(is_local).count(),
            in_loops: regions.of.iter().filter(|region| in_loop(region)).count(),
        }
    }
}
