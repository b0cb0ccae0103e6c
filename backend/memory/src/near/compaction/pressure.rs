//! Idle periods of spans, measured in intervals of the residency thread and in submissions.
//!
//! Compaction happens as late as possible. The residency thread compacts when few bytes of the heap
//! are free, or when the host wants memory back. An allocation that does not fit, and a submission
//! whose images do not fit beside the idle ones, compact first what has been idle for long, then
//! everything that no running submission uses. Source: DESIGN 3.6, the compaction daemon.

use std::collections::VecDeque;

use super::MAX_IDLE_INTERVALS;

/// Number of submissions for which a span must be unused while others run. A frame may last longer
/// than the residency thread's intervals.
const MIN_IDLE_SUBMISSIONS: u64 = 4;

/// Oldest running submissions at the last intervals.
#[derive(Debug, Default)]
pub(super) struct IdleHistory {
    /// The latest comes first.
    oldest: VecDeque<u64>,
}

impl IdleHistory {
    /// Adds the oldest running submission at the beginning of an interval.
    pub fn add(&mut self, oldest: u64) {
        self.oldest.truncate(MAX_IDLE_INTERVALS - 1);
        self.oldest.push_front(oldest);
    }

    /// Returns the submission since which a span must be idle to be compacted. This is the oldest
    /// running submission `intervals` intervals ago. It is an older one if other submissions have
    /// run since. `now` is the oldest running submission. Returns 0 if there were fewer intervals.
    pub fn before(&self, now: u64, intervals: usize) -> u64 {
        let Some(&then) = intervals.checked_sub(1).and_then(|last| self.oldest.get(last)) else { return 0 };
        if then == now { then } else { then.min(now.saturating_sub(MIN_IDLE_SUBMISSIONS)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_idle_by_time_and_by_submissions() {
        let mut history = IdleHistory::default();
        assert_eq!((history.before(9, 1), history.before(9, 0)), (0, 0));
        history.add(5);
        history.add(9);
        // No submission has run since the last interval.
        assert_eq!(history.before(9, 1), 9);
        // One has run since then. Spans that were used four submissions ago are not idle yet.
        assert_eq!((history.before(10, 1), history.before(10, 2), history.before(10, 3)), (6, 5, 0));
        (0..100).for_each(|number| history.add(10 + number));
        assert_eq!((history.before(109, 1), history.before(109, 64), history.before(109, 65)), (109, 46, 0));
    }
}
