//! What a wave runs in, and how it stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{Bindings, Ranges, SharedMemory};

/// When running programs must stop: when they have run for some time. As they look at it often, long gaps between looks are times
/// in which the whole process stood still (a debugger or a signal stops it, the machine sleeps), and hardly count.
#[derive(Debug)]
pub struct Deadline {
    time: Duration,
    made: Instant,
    /// When somebody looked at it last, in nanoseconds from then on; 0 until somebody does for the first time.
    looked: AtomicU64,
    /// Nanoseconds that programs have run since then.
    spent: AtomicU64,
    expired: AtomicBool,
}

/// A gap between two looks counts for at most this part of the time.
const LONGEST_GAP: u64 = 10;

impl Deadline {
    /// So long after the first look at it.
    pub fn after(time: Duration) -> Arc<Self> {
        let (looked, spent, expired) = Default::default();
        Arc::new(Self { time, made: Instant::now(), looked, spent, expired })
    }

    /// Begins again, with the next look at it. No program runs.
    pub fn restart(&self) {
        self.looked.store(0, Ordering::Relaxed);
        self.spent.store(0, Ordering::Relaxed);
    }

    /// Whether a program was or must be stopped.
    pub fn expired(&self) -> bool {
        if self.expired.load(Ordering::Relaxed) {
            return true;
        }
        let now = self.made.elapsed().as_nanos().max(1) as u64;
        let time = self.time.as_nanos() as u64;
        let gap = match self.looked.fetch_max(now, Ordering::Relaxed) {
            0 => 0,
            before => now.saturating_sub(before).min(time / LONGEST_GAP + 1),
        };
        let is_over = self.spent.fetch_add(gap, Ordering::Relaxed) + gap >= time;
        if is_over {
            self.expired.store(true, Ordering::Relaxed);
        }
        is_over
    }

    /// Whether a program was stopped.
    pub fn was_hit(&self) -> bool {
        self.expired.load(Ordering::Relaxed)
    }
}

/// What a wave runs in.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    /// Resources.
    pub bindings: &'a Bindings,
    /// Parameters: word `n` is the one at `n * WAVE`, so that those of sixteen primitives lie lane by lane; at least as many as the
    /// program has.
    pub parameters: &'a [u32],
    /// Ranges of memory that the program reaches by number: at least as many as it has.
    pub ranges: &'a Ranges,
    /// Push constants.
    pub push: &'a [u8],
    /// Shared memory of the workgroup.
    pub shared: Option<&'a SharedMemory>,
    /// When to stop.
    pub deadline: &'a Deadline,
}

impl<'a> Environment<'a> {
    /// Resources, and a time to stop; nothing else.
    pub fn new(bindings: &'a Bindings, deadline: &'a Deadline) -> Self {
        Self { bindings, parameters: &[], ranges: Ranges::none(), push: &[], shared: None, deadline }
    }
}

/// How a wave stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// At the end.
    Done,
    /// At a barrier: run it again when the other waves are there.
    Barrier,
    /// By the deadline.
    Interrupted,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_in_which_nobody_looked_hardly_counts() {
        let deadline = Deadline::after(Duration::from_millis(200));
        assert!(!deadline.expired());
        std::thread::sleep(Duration::from_millis(300));
        assert!(!deadline.expired(), "a gap is not counted as a whole");
        let begin = Instant::now();
        while !deadline.expired() {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(begin.elapsed() >= Duration::from_millis(170), "{:?}", begin.elapsed());
        assert!(deadline.was_hit());
        assert!(Deadline::after(Duration::ZERO).expired(), "no time is over at once");
    }
}
