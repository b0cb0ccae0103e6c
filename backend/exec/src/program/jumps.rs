//! Jump targets of control-flow markers.
//!
//! | Marker | Target |
//! |---|---|
//! | `If` | its `Else` or `EndIf` |
//! | `Else` | its `EndIf` |
//! | `EndLoop` | its `Loop` |
//! | `Break`, `Continue`, `Kill` | the marker that ends the innermost region |

use vitric_ir::Inst;

/// Returns for each instruction the index it may jump to, or its own index if it does not jump.
pub(super) fn targets(insts: &[Inst]) -> Vec<u32> {
    let mut targets: Vec<u32> = (0..insts.len() as u32).collect();
    // For each open region, its start and the instructions that jump to its next marker.
    let mut open: Vec<(usize, Vec<usize>)> = vec![(0, Vec::new())];
    for (at, inst) in insts.iter().enumerate() {
        match inst {
            Inst::If { .. } => open.push((at, vec![at])),
            Inst::Else | Inst::Continuing => {
                let (start, waiting) = open.pop().unwrap_or_default();
                land(&mut targets, &waiting, at);
                let waits = if matches!(inst, Inst::Else) { vec![at] } else { Vec::new() };
                open.push((start, waits));
            }
            Inst::Block | Inst::Loop => open.push((at, Vec::new())),
            Inst::EndIf | Inst::EndBlock | Inst::EndLoop => {
                let (start, waiting) = open.pop().unwrap_or_default();
                land(&mut targets, &waiting, at);
                if matches!(inst, Inst::EndLoop) {
                    targets[at] = start as u32;
                }
            }
            Inst::Break { .. } | Inst::Continue { .. } | Inst::Kill => {
                if let Some((_, waiting)) = open.last_mut() {
                    waiting.push(at);
                }
            }
            _ => {}
        }
    }
    for (_, waiting) in open {
        land(&mut targets, &waiting, insts.len());
    }
    targets
}

fn land(targets: &mut [u32], waiting: &[usize], at: usize) {
    for &from in waiting {
        targets[from] = at as u32;
    }
}
