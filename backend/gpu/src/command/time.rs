//! The time limit of commands (`VITRIC_TIMEOUT_MS`): wall time of one action command, through all
//! its draws and stages.
//!
//! A draw command ends when its primitives are queued for the tile pass, or when the whole draw is
//! deferred. Its unused time is queued with its work:
//!
//! - Deferred draws run together, within the sum of their times.
//! - During a tile pass, draws with one state of the pixel units share the sum of their times. The
//!   limit applies to the time in which any worker shades fragments of a program with loops.
//! - A single run of a program has the time of one command.
//! - A command whose work is queued alone has exactly its own time.

use super::processor::Processor;

/// Unused time of commands whose work is queued, in nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TimesLeft {
    /// Unused time of deferred draws.
    draws: u64,
    /// Unused time of primitives that are queued for the tile pass.
    tiles: u64,
    /// True if the running command is a draw, so that queued primitives may be its own.
    is_drawing: bool,
}

/// Time that the running command had left before shared work began, in nanoseconds.
pub(super) struct Suspended {
    own: u64,
    others: u64,
}

impl Suspended {
    /// Returns the time left of the running command and of the other commands after the work took
    /// `spent`. The time of the other commands is used first.
    fn settle(&self, spent: u64) -> [u64; 2] {
        let of_own = spent.saturating_sub(self.others);
        [self.own.saturating_sub(of_own), self.others.saturating_sub(spent)]
    }
}

impl Processor<'_> {
    /// Begins the draws of a command.
    pub(super) fn begin_drawing(&mut self) {
        self.times_left.is_drawing = true;
        self.pending.begin_command();
    }

    /// Ends a draw command. Its queued work keeps the time that the command has left.
    pub(super) fn keep_time_left(&mut self) {
        let left = self.deadline.left();
        self.times_left.is_drawing = false;
        if self.has_draws_waiting() {
            self.times_left.draws = self.times_left.draws.saturating_add(left);
        } else if !self.pending.is_idle() {
            self.times_left.tiles = self.times_left.tiles.saturating_add(left);
        }
    }

    /// Begins to run deferred draws.
    pub(super) fn begin_waiting_draws(&mut self) -> Suspended {
        let others = std::mem::take(&mut self.times_left.draws);
        self.begin_with_others(others)
    }

    /// Resumes the running command after deferred draws have run. The time that the draws have
    /// left becomes time of their tile pass.
    pub(super) fn end_waiting_draws(&mut self, suspended: &Suspended) {
        let [own, others] = suspended.settle(self.deadline.spent());
        self.times_left.tiles = self.times_left.tiles.saturating_add(others);
        self.deadline.begin_with(own);
    }

    /// Begins to process the tiles of queued primitives.
    pub(super) fn begin_tiles(&mut self) -> Suspended {
        let others = std::mem::take(&mut self.times_left.tiles);
        self.begin_with_others(others)
    }

    /// Resumes the running command after the tile pass, when no work is queued.
    pub(super) fn end_tiles(&mut self, suspended: &Suspended) {
        let [own, _] = suspended.settle(self.deadline.spent());
        self.deadline.begin_with(own);
    }

    fn begin_with_others(&mut self, others: u64) -> Suspended {
        let own = self.deadline.left();
        // A command that only waits for the work of others adds no time to it.
        let adds = self.times_left.is_drawing || others == 0;
        self.deadline.begin_with(if adds { own.saturating_add(others) } else { others });
        Suspended { own, others }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_pay_first_and_nobody_gains_time() {
        let suspended = Suspended { own: 10, others: 5 };
        let settled = [0, 3, 5, 8, 15, 20].map(|spent| suspended.settle(spent));
        assert_eq!(settled, [[10, 5], [10, 2], [10, 0], [7, 0], [0, 0], [0, 0]]);
        let alone = Suspended { own: 10, others: 0 };
        assert_eq!(alone.settle(4), [6, 0]);
    }
}
