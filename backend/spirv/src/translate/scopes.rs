//! Scopes: numbered blocks and loops, so that breaks can name them before it is known which of them are needed.
//!
//! While translating, the depth of `Break` and `Continue` holds a scope's number. [`Scopes::resolve`] drops blocks that
//! nothing breaks out of and turns numbers into depths.

use foldhash::HashSet;
use vitric_ir::{Builder, Inst};

/// The number of a scope.
pub(super) type Scope = u32;

/// What a branch to a label means inside an open scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    Break(Scope),
    Continue(Scope),
}

/// A label that branches may leave a region for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    pub(super) label: u32,
    pub(super) exit: Exit,
    /// A local that is set to 1 on the way (a switch's fall through).
    pub(super) flag: Option<vitric_ir::Local>,
}

/// Open targets, innermost last, and the numbers of scopes in the order of their markers.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    pub(super) targets: Vec<Target>,
    order: Vec<Scope>,
}

impl Scopes {
    /// Opens a block or loop.
    pub(super) fn open(&mut self, builder: &mut Builder, marker: Inst) -> Scope {
        let scope = self.order.len() as Scope;
        self.order.push(scope);
        builder.push(marker);
        scope
    }

    /// Drops blocks that nothing breaks out of, and turns scope numbers into depths.
    pub(super) fn resolve(&self, insts: Vec<Inst>) -> Vec<Inst> {
        let mut used: HashSet<Scope> = HashSet::default();
        for inst in &insts {
            if let Inst::Break { depth } | Inst::Continue { depth } = inst {
                used.insert(*depth);
            }
        }
        let mut next = 0;
        let mut open: Vec<(Scope, bool)> = Vec::new();
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            let keep = match inst {
                Inst::Block | Inst::Loop => {
                    let kept = inst == Inst::Loop || used.contains(&next);
                    open.push((next, kept));
                    next += 1;
                    kept
                }
                Inst::EndBlock | Inst::EndLoop => open.pop().is_some_and(|(_, kept)| kept),
                _ => true,
            };
            if keep {
                out.push(match inst {
                    Inst::Break { depth } => Inst::Break { depth: depth_of(&open, depth) },
                    Inst::Continue { depth } => Inst::Continue { depth: depth_of(&open, depth) },
                    other => other,
                });
            }
        }
        out
    }
}

fn depth_of(open: &[(Scope, bool)], scope: Scope) -> u32 {
    let inner = open.iter().rev().take_while(|(number, _)| *number != scope);
    inner.filter(|(_, kept)| *kept).count() as u32
}
