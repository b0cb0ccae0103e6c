//! The time limit of commands, `VITRIC_TIMEOUT_MS`: wall time of one action command, through all its draws and stages.
//!
//! A draw command is over when its primitives wait for their tiles, or the whole draw waits for later ones. The time that it has not
//! used waits with them. Draws that wait together run together, so they have the sum of their times. Within it, draws with one state of
//! the pixel units have the sum of theirs, for the time in which any worker shades fragments of a program with loops, and a single run
//! of a program has the time of one command. A command whose work waits with no other has exactly its time.

use super::processor::Processor;

/// Times that commands have left whose work waits, nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TimesLeft {
    /// Time of draws that wait for later ones.
    draws: u64,
    /// Time of primitives that wait for their tiles.
    tiles: u64,
    /// True if the running command is a draw, whose primitives may be among those that wait.
    is_drawing: bool,
}

/// The time that the running command had left before work began that is also of others.
pub(super) struct Suspended {
    own: u64,
    others: u64,
}

impl Suspended {
    /// Returns what is left of the command's time and of the others' when the work has taken `spent`: the others pay first.
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

    /// Ends a draw command: what waits of it keeps the time that it has left.
    pub(super) fn keep_time_left(&mut self) {
        let left = self.deadline.left();
        self.times_left.is_drawing = false;
        if self.has_draws_waiting() {
            self.times_left.draws = self.times_left.draws.saturating_add(left);
        } else if !self.pending.is_idle() {
            self.times_left.tiles = self.times_left.tiles.saturating_add(left);
        }
    }

    /// Begins to run draws that have waited for later ones.
    pub(super) fn begin_waiting_draws(&mut self) -> Suspended {
        let others = std::mem::take(&mut self.times_left.draws);
        self.begin_with_others(others)
    }

    /// Goes on with the command that runs behind draws that have waited; time that these have left is that of their tiles.
    pub(super) fn end_waiting_draws(&mut self, suspended: &Suspended) {
        let [own, others] = suspended.settle(self.deadline.spent());
        self.times_left.tiles = self.times_left.tiles.saturating_add(others);
        self.deadline.begin_with(own);
    }

    /// Begins to walk tiles that primitives have waited for.
    pub(super) fn begin_tiles(&mut self) -> Suspended {
        let others = std::mem::take(&mut self.times_left.tiles);
        self.begin_with_others(others)
    }

    /// Goes on with the command that runs behind the tiles, for which nothing waits any more.
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
