//! Time limits of commands.
//!
//! A wait for the host or for another queue has a fixed limit. `VITRIC_TIMEOUT_MS` limits the wall
//! time of one action command, through all its draws and stages.
//!
//! A draw command ends when its primitives are queued for the tile pass, or when the whole draw is
//! deferred. Its unused time is queued with its work:
//!
//! - Deferred draws run together, within the sum of their times.
//! - During a tile pass, draws with one state of the pixel units share the sum of their times. The
//!   limit applies to the time in which any worker shades fragments of a program with loops.
//! - A single run of a program has the time of one command.
//! - A command whose work is queued alone has exactly its own time.

use std::time::Duration;

use vitric_exec::interp::Deadline;

/// Maximum time that a command waits for events, or for queries that other queues end.
pub(super) const WAIT_TIMEOUT: Duration = Duration::from_secs(10);

/// Unused time of commands whose work is queued, in nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct QueuedTime {
    /// Unused time of deferred draws.
    deferred: u64,
    /// Unused time of primitives that are queued for the tile pass.
    tiles: u64,
    /// True if the running command is a draw, so that queued primitives may be its own.
    is_drawing: bool,
}

/// Time that the running command had left before shared work began, in nanoseconds.
pub(super) struct Suspended {
    current: u64,
    others: u64,
}

impl Suspended {
    /// Returns the time left of the running command and of the other commands after the work took
    /// `spent`. The time of the other commands is used first.
    fn settle(&self, spent: u64) -> [u64; 2] {
        let of_current = spent.saturating_sub(self.others);
        [self.current.saturating_sub(of_current), self.others.saturating_sub(spent)]
    }
}

impl QueuedTime {
    /// Begins the draws of a command.
    pub(super) fn begin_draws(&mut self) {
        self.is_drawing = true;
    }

    /// Ends a draw command and returns the time that it has left.
    pub(super) fn end_draws(&mut self, deadline: &Deadline) -> u64 {
        self.is_drawing = false;
        deadline.left()
    }

    /// Adds unused time of a command whose draws are deferred.
    pub(super) fn add_deferred(&mut self, left: u64) {
        self.deferred = self.deferred.saturating_add(left);
    }

    /// Adds unused time of a command whose primitives are queued for the tile pass.
    pub(super) fn add_tiles(&mut self, left: u64) {
        self.tiles = self.tiles.saturating_add(left);
    }

    /// Begins to run deferred draws.
    pub(super) fn begin_deferred(&mut self, deadline: &Deadline) -> Suspended {
        let others = std::mem::take(&mut self.deferred);
        self.begin_with_others(deadline, others)
    }

    /// Resumes the running command after deferred draws have run. The time that the draws have
    /// left becomes time of their tile pass.
    pub(super) fn end_deferred(&mut self, deadline: &Deadline, suspended: &Suspended) {
        let [current, others] = suspended.settle(deadline.spent());
        self.add_tiles(others);
        deadline.begin_with(current);
    }

    /// Begins to process the tiles of queued primitives.
    pub(super) fn begin_tiles(&mut self, deadline: &Deadline) -> Suspended {
        let others = std::mem::take(&mut self.tiles);
        self.begin_with_others(deadline, others)
    }

    /// Resumes the running command after the tile pass, when no work is queued.
    pub(super) fn end_tiles(&mut self, deadline: &Deadline, suspended: &Suspended) {
        let [current, _] = suspended.settle(deadline.spent());
        deadline.begin_with(current);
    }

    fn begin_with_others(&mut self, deadline: &Deadline, others: u64) -> Suspended {
        let current = deadline.left();
        // A command that only waits for the work of others adds no time to it.
        let adds = self.is_drawing || others == 0;
        deadline.begin_with(if adds { current.saturating_add(others) } else { others });
        Suspended { current, others }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_others_is_used_first_and_none_is_gained() {
        let suspended = Suspended { current: 10, others: 5 };
        let settled = [0, 3, 5, 8, 15, 20].map(|spent| suspended.settle(spent));
        assert_eq!(settled, [[10, 5], [10, 2], [10, 0], [7, 0], [0, 0], [0, 0]]);
        let alone = Suspended { current: 10, others: 0 };
        assert_eq!(alone.settle(4), [6, 0]);
    }
}
