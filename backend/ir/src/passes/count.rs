//! Size counts of a function, which measure the effect of passes.

use crate::{Function, Inst, RegionKind, Regions};

/// Size counts of a function.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Number of instructions, including constants and markers.
    pub instructions: usize,
    /// Number of loads and stores of locals.
    pub locals: usize,
    /// Number of instructions inside of loops.
    pub in_loops: usize,
}

impl Count {
    /// Counts the sizes of a verified function.
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
