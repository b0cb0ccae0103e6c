//! Heuristic that estimates if shading positions first saves time.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use vitric_ir::{Function, Inst};

/// Fixed cost of shading one vertex, in IR instructions, on top of its program.
const VERTEX_COST: u32 = 32;

/// Numbers of primitives that are drawn without look-ahead for each one that was deferred in vain:
/// the first time, and at most. The number doubles each time.
const PAUSES: [u32; 2] = [16, 512];

/// Denominator of shares.
const WHOLE: u32 = 1 << 16;

/// Costs of the two pipes of a vertex program, and the share of primitives that was visible
/// recently.
#[derive(Debug)]
pub struct CullHeuristic {
    /// Cost of a vertex in the cull pipe and in the replay pipe, in IR instructions.
    costs: [u32; 2],
    /// Share of primitives that were visible in the last chunk, in units of 1/[`WHOLE`]. It
    /// affects speed only.
    visible: AtomicU32,
    /// Number of primitives to draw before draws are deferred again.
    paused: AtomicU64,
    /// Number of primitives to draw for each one of the next deferral in vain.
    pause: AtomicU32,
}

impl CullHeuristic {
    /// Returns the heuristic of a vertex program, given the functions of both pipes.
    pub(super) fn new(positions: &Function, full: &Function) -> Self {
        let costs = [positions, full].map(|function| cost(function) + VERTEX_COST);
        Self { costs, visible: AtomicU32::new(WHOLE), paused: AtomicU64::new(0), pause: AtomicU32::new(PAUSES[0]) }
    }

    /// Returns true if running the cull pipe is expected to be cheaper than shading every vertex
    /// once. Vertices of visible primitives are then shaded twice.
    pub(super) fn is_cull_pipe_cheaper(&self) -> bool {
        let [positions, full] = self.costs.map(u64::from);
        let visible = u64::from(self.visible.load(Ordering::Relaxed));
        positions * u64::from(WHOLE) + visible * full < full * u64::from(WHOLE)
    }

    /// Records the number of visible primitives of a chunk.
    pub(super) fn record_visible(&self, visible: usize, of: usize) {
        let share = visible.min(of) as u64 * u64::from(WHOLE) / of.max(1) as u64;
        self.visible.store(share as u32, Ordering::Relaxed);
    }

    /// Returns true if a draw of this number of primitives is not to be deferred, because deferral
    /// is paused.
    pub fn skips_deferral(&self, primitives: usize) -> bool {
        let paused = self.paused.load(Ordering::Relaxed);
        if paused > 0 {
            self.paused.store(paused.saturating_sub(primitives as u64), Ordering::Relaxed);
        }
        paused > 0
    }

    /// Records if later draws hid enough of this number of deferred primitives. If not, pauses
    /// deferral, each time for longer.
    pub fn record_deferral(&self, pays: bool, primitives: usize) {
        let [first, most] = PAUSES;
        if pays {
            return self.pause.store(first, Ordering::Relaxed);
        }
        let pause = self.pause.load(Ordering::Relaxed);
        self.paused.store(primitives as u64 * u64::from(pause), Ordering::Relaxed);
        self.pause.store((pause * 2).min(most), Ordering::Relaxed);
    }
}

/// Returns the number of instructions that a function is expected to run. Instructions of loops
/// count several times.
fn cost(function: &Function) -> u32 {
    const TURNS: u32 = 8;
    let mut weight = 1u32;
    function.insts.iter().fold(0u32, |sum, inst| {
        match inst {
            Inst::Loop => weight = weight.saturating_mul(TURNS),
            Inst::EndLoop => weight /= TURNS,
            _ => {}
        }
        sum.saturating_add(weight)
    })
}

#[cfg(test)]
mod tests {
    use vitric_ir::{BinaryOp, Builder, Type};

    use super::*;

    #[test]
    fn draws_are_not_deferred_after_deferral_in_vain() {
        let heuristic = CullHeuristic::new(&Builder::new().finish(), &Builder::new().finish());
        let skipped = || (0..).take_while(|_| heuristic.skips_deferral(100)).count();
        assert_eq!(skipped(), 0);
        for factor in [16, 32, 64, 128, 256, 512, 512] {
            heuristic.record_deferral(false, 100);
            assert_eq!(skipped(), factor);
        }
        heuristic.record_deferral(true, 100);
        assert_eq!(skipped(), 0);
        heuristic.record_deferral(false, 100);
        assert_eq!(skipped(), 16);
    }

    #[test]
    fn the_cull_pipe_runs_where_that_is_expected_to_be_cheaper() {
        let program = |operations: u32| {
            let mut b = Builder::new();
            let mut value = b.input(0, Type::I32);
            b.push(Inst::Loop);
            for _ in 0..operations {
                value = b.binary(BinaryOp::IAdd, value, value);
            }
            b.push(Inst::Break { depth: 0 });
            b.push(Inst::Continuing);
            b.push(Inst::EndLoop);
            b.finish()
        };
        let heuristic = CullHeuristic::new(&program(1), &program(100));
        assert!(!heuristic.is_cull_pipe_cheaper(), "as long as nothing is known all is taken to be visible");
        heuristic.record_visible(10, 100);
        assert!(heuristic.is_cull_pipe_cheaper());
        heuristic.record_visible(95, 100);
        assert!(!heuristic.is_cull_pipe_cheaper());
        let even = CullHeuristic::new(&program(10), &program(10));
        even.record_visible(1, 100);
        assert!(!even.is_cull_pipe_cheaper(), "what shades nothing but positions gains nothing");
        assert!(cost(&program(9)) > 8 * 9);
    }
}
