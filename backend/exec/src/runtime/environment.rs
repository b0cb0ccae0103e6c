//! What a wave runs in, and how it stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{Bindings, Ranges, SharedMemory};

/// Measures how long work runs and says when it must stop. Running programs look at it often, so a long gap between two looks is time
/// in which the whole process stood still (a debugger or a signal stops it, the machine sleeps) and hardly counts.
#[derive(Debug)]
pub struct Deadline {
    made: Instant,
    /// Time that one command may take, nanoseconds. A single run of a program may not take longer either.
    of_command: u64,
    /// Time that the work which runs now may take: that of one command, or the sum over several. Nanoseconds.
    limit: AtomicU64,
    /// Time of the last look since the work began, nanoseconds since `made`; 0 before the first look.
    looked: AtomicU64,
    /// Time that the work has taken, nanoseconds.
    spent: AtomicU64,
    expired: AtomicBool,
    /// The work that this is a part of: commands whose fragments are shaded together with those of others.
    whole: Option<Arc<Self>>,
    /// Workers that work on the part now.
    workers: AtomicU32,
}

/// Says that a worker works on a part of the work, until it is dropped.
#[derive(Debug)]
pub struct Working<'a>(&'a Deadline);

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.expired();
        self.0.workers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A gap between two looks counts for at most this part of the time of a command.
const LONGEST_GAP: u64 = 10;

impl Deadline {
    /// A deadline for commands that may take `time` each. The first one begins.
    #[inline]
    pub fn after(time: Duration) -> Arc<Self> {
        let of_command = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Arc::new(Self::new((Instant::now(), of_command), of_command, None))
    }

    fn new((made, of_command): (Instant, u64), limit: u64, whole: Option<Arc<Self>>) -> Self {
        let (looked, spent, expired, workers) = Default::default();
        Self { made, of_command, limit: limit.into(), looked, spent, expired, whole, workers }
    }

    /// Returns the deadline of a part of this work, which is that of so many commands. Its time is that in which at least one worker
    /// works on it ([`Self::enter`]).
    #[inline]
    pub fn part(self: &Arc<Self>, commands: u32) -> Self {
        let limit = self.of_command.saturating_mul(commands.max(1).into());
        Self::new((self.made, self.of_command), limit, Some(self.clone()))
    }

    /// Begins to work on a part. What is no part is measured without that.
    pub fn enter(&self) -> Option<Working<'_>> {
        self.whole.as_ref()?;
        if self.workers.fetch_add(1, Ordering::Relaxed) == 0 {
            self.looked.fetch_max(self.now(), Ordering::Relaxed);
        }
        Some(Working(self))
    }

    /// Begins to measure a command, from the next look on. No program runs.
    #[inline]
    pub fn begin(&self) {
        self.begin_with(self.of_command);
    }

    /// Begins to measure work that may take `limit` nanoseconds, from the next look on. No program runs.
    #[inline]
    pub fn begin_with(&self, limit: u64) {
        self.limit.store(limit, Ordering::Relaxed);
        self.looked.store(0, Ordering::Relaxed);
        self.spent.store(0, Ordering::Relaxed);
    }

    /// Returns the nanoseconds that the work has taken.
    #[inline]
    pub fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    /// Returns the nanoseconds that the work may still take.
    #[inline]
    pub fn left(&self) -> u64 {
        self.limit.load(Ordering::Relaxed).saturating_sub(self.spent())
    }

    /// Looks at the clock. Returns whether a program was or must be stopped.
    pub fn expired(&self) -> bool {
        if self.was_hit() {
            return true;
        }
        let now = self.now();
        let is_worked_on = self.whole.is_none() || self.workers.load(Ordering::Relaxed) > 0;
        let of_whole = self.whole.as_ref().is_some_and(|whole| whole.look(now));
        let is_over = is_worked_on && self.look(now) || of_whole;
        if is_over {
            self.hit();
        }
        is_over
    }

    /// Returns the time now, nanoseconds since `made`; not 0.
    fn now(&self) -> u64 {
        self.made.elapsed().as_nanos().max(1) as u64
    }

    /// Adds the time since the last look. Returns whether the work has taken too long.
    fn look(&self, now: u64) -> bool {
        let gap = match self.looked.fetch_max(now, Ordering::Relaxed) {
            0 => 0,
            before => now.saturating_sub(before).min(self.of_command / LONGEST_GAP + 1),
        };
        self.spent.fetch_add(gap, Ordering::Relaxed) + gap >= self.limit.load(Ordering::Relaxed)
    }

    /// Has programs of the whole work stopped.
    fn hit(&self) {
        self.whole.as_deref().unwrap_or(self).expired.store(true, Ordering::Relaxed);
    }

    /// Looks at the clock during one run of a program. `since` is 0 at its first look and kept for the next one. Returns whether the
    /// run must stop, also because it takes longer than a command may.
    pub fn expired_in_run(&self, since: &mut u64) -> bool {
        let is_over = self.expired();
        let now = self.whole.as_deref().unwrap_or(self).spent() + 1;
        if *since == 0 {
            *since = now;
        }
        if !is_over && now.saturating_sub(*since) >= self.of_command {
            self.hit();
        }
        self.was_hit()
    }

    /// Returns whether a program was stopped.
    #[inline]
    pub fn was_hit(&self) -> bool {
        self.whole.as_deref().unwrap_or(self).expired.load(Ordering::Relaxed)
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
    #[inline]
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

    /// Looks every millisecond until the deadline expires, and returns how long that took.
    fn run_down(mut look: impl FnMut() -> bool) -> Duration {
        let begin = Instant::now();
        while !look() {
            std::thread::sleep(Duration::from_millis(1));
        }
        begin.elapsed()
    }

    #[test]
    fn several_commands_share_their_time_but_one_run_has_that_of_one() {
        let deadline = Deadline::after(Duration::from_millis(50));
        deadline.begin_with(4 * deadline.left());
        assert!(run_down(|| deadline.expired()) >= Duration::from_millis(180));
        assert_eq!(deadline.left(), 0);
        let deadline = Deadline::after(Duration::from_millis(50));
        deadline.begin_with(u64::MAX);
        let mut since = 0;
        assert!(run_down(|| deadline.expired_in_run(&mut since)) >= Duration::from_millis(45));
        assert!(deadline.left() > 0 && deadline.was_hit());
    }

    #[test]
    fn parts_count_time_in_which_somebody_works_on_them() {
        let whole = Deadline::after(Duration::from_millis(50));
        whole.begin_with(u64::MAX);
        let (one, other) = (whole.part(2), whole.part(1));
        {
            let (_first, _second) = (one.enter(), one.enter());
            assert!(run_down(|| one.expired() || one.spent() > 60_000_000) >= Duration::from_millis(55));
        }
        let spent = one.spent();
        std::thread::sleep(Duration::from_millis(20));
        assert!(!one.expired() && one.spent() == spent, "nobody works on it");
        let _third = one.enter();
        assert!(!one.expired() && one.spent() < spent + 20_000_000);
        assert_eq!(other.spent(), 0);
        let _fourth = other.enter();
        assert!(run_down(|| other.expired()) >= Duration::from_millis(45));
        assert!(whole.was_hit() && one.expired(), "all stop with one part");
    }
}
