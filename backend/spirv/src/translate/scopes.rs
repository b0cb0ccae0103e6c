//! Scopes: numbered blocks and loops. Breaks name a scope before it is known which blocks are
//! needed.
//!
//! During translation, the depth of `Break` and `Continue` is a scope's number.
//! [`Scopes::resolve`] removes blocks without breaks and replaces the numbers by depths.

use foldhash::HashSet;
use vitric_ir::{Builder, Inst};

/// Number of a scope.
pub(super) type Scope = u32;

/// Meaning of a branch to a label inside an open scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    Break(Scope),
    Continue(Scope),
}

/// Label to which branches may leave a region.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    pub(super) label: u32,
    pub(super) exit: Exit,
    /// Local that the branch sets to 1, for the fallthrough of a switch.
    pub(super) flag: Option<vitric_ir::Local>,
}

/// Open targets, innermost last, and the numbers of scopes in the order of their markers.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    pub(super) targets: Vec<Target>,
    order: Vec<Scope>,
}

impl Scopes {
    /// Opens a block or loop and returns its scope.
    pub(super) fn open(&mut self, builder: &mut Builder, marker: Inst) -> Scope {
        let scope = self.order.len() as Scope;
        self.order.push(scope);
        builder.push(marker);
        scope
    }

    /// Removes blocks without breaks, and replaces scope numbers by depths.
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
