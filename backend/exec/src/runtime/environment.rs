//! Environment that a wave runs in, and the ways it stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{Bindings, Ranges, SharedMemory};

/// Time limit of running work.
///
/// Running programs check the clock often. In a long gap between two checks the whole process was
/// stopped, for example by a debugger, a signal or a suspended machine. Most of such a gap is not
/// counted.
#[derive(Debug)]
pub struct Deadline {
    made: Instant,
    /// Time limit of one command, in nanoseconds. It also limits a single run of a program.
    of_command: u64,
    /// Time limit of the current work, in nanoseconds: that of one command, or the sum over
    /// several.
    limit: AtomicU64,
    /// Time of the last check since the work began, in nanoseconds since `made`. 0 before the
    /// first check.
    looked: AtomicU64,
    /// Time that the work has taken so far, in nanoseconds.
    spent: AtomicU64,
    expired: AtomicBool,
    /// Whole work that this part belongs to. Parts are commands whose fragments are shaded
    /// together with those of other commands.
    whole: Option<Arc<Self>>,
    /// Number of workers that currently work on the part.
    workers: AtomicU32,
}

/// Guard that counts a worker as working on a part until it is dropped.
#[derive(Debug)]
pub struct Working<'a>(&'a Deadline);

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.expired();
        self.0.workers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Divisor that limits a gap between two checks: at most 1/10 of a command's time is counted.
const LONGEST_GAP: u64 = 10;

impl Deadline {
    /// Creates a deadline for commands that may take `time` each, and begins the first one.
    #[inline]
    pub fn after(time: Duration) -> Arc<Self> {
        let of_command = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Arc::new(Self::new((Instant::now(), of_command), of_command, None))
    }

    fn new((made, of_command): (Instant, u64), limit: u64, whole: Option<Arc<Self>>) -> Self {
        let (looked, spent, expired, workers) = Default::default();
        Self { made, of_command, limit: limit.into(), looked, spent, expired, whole, workers }
    }

    /// Returns the deadline of a part of this work that consists of `commands` commands. Only time
    /// in which at least one worker works on the part is counted, see [`Self::enter`].
    #[inline]
    pub fn part(self: &Arc<Self>, commands: u32) -> Self {
        let limit = self.of_command.saturating_mul(commands.max(1).into());
        Self::new((self.made, self.of_command), limit, Some(self.clone()))
    }

    /// Begins work on a part. Returns `None` for a deadline that is not a part, whose time is
    /// always counted.
    pub fn enter(&self) -> Option<Working<'_>> {
        self.whole.as_ref()?;
        if self.workers.fetch_add(1, Ordering::Relaxed) == 0 {
            self.looked.fetch_max(self.now(), Ordering::Relaxed);
        }
        Some(Working(self))
    }

    /// Begins to measure a command, starting with the next check. No program may be running.
    #[inline]
    pub fn begin(&self) {
        self.begin_with(self.of_command);
    }

    /// Begins to measure work that may take `limit` nanoseconds, starting with the next check. No
    /// program may be running.
    #[inline]
    pub fn begin_with(&self, limit: u64) {
        self.limit.store(limit, Ordering::Relaxed);
        self.looked.store(0, Ordering::Relaxed);
        self.spent.store(0, Ordering::Relaxed);
    }

    /// Returns the time that the work has taken so far, in nanoseconds.
    #[inline]
    pub fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    /// Returns the time left for the work, in nanoseconds.
    #[inline]
    pub fn left(&self) -> u64 {
        self.limit.load(Ordering::Relaxed).saturating_sub(self.spent())
    }

    /// Checks the clock. Returns true if a program was stopped or must stop.
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

    /// Returns the current time in nanoseconds since `made`, at least 1.
    fn now(&self) -> u64 {
        self.made.elapsed().as_nanos().max(1) as u64
    }

    /// Adds the time since the last check. Returns true if the work has reached its limit.
    fn look(&self, now: u64) -> bool {
        let gap = match self.looked.fetch_max(now, Ordering::Relaxed) {
            0 => 0,
            before => now.saturating_sub(before).min(self.of_command / LONGEST_GAP + 1),
        };
        self.spent.fetch_add(gap, Ordering::Relaxed) + gap >= self.limit.load(Ordering::Relaxed)
    }

    /// Stops the programs of the whole work.
    fn hit(&self) {
        self.whole.as_deref().unwrap_or(self).expired.store(true, Ordering::Relaxed);
    }

    /// Checks the clock during one run of a program. `since` is 0 at the run's first check, and
    /// the caller keeps it for the next one. Returns true if the run must stop. A run must also
    /// stop if it takes longer than one command may.
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

    /// Returns true if a program was stopped.
    #[inline]
    pub fn was_hit(&self) -> bool {
        self.whole.as_deref().unwrap_or(self).expired.load(Ordering::Relaxed)
    }
}

/// Environment that a wave runs in.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    /// Resources.
    pub bindings: &'a Bindings,
    /// Parameters, at least as many as the program has. Word `n` is at index `n * WAVE`, so that
    /// the words of 16 primitives occupy consecutive lanes.
    pub parameters: &'a [u32],
    /// Memory ranges that the program accesses by number, at least as many as it has.
    pub ranges: &'a Ranges,
    /// Push constants.
    pub push: &'a [u8],
    /// Shared memory of the workgroup.
    pub shared: Option<&'a SharedMemory>,
    /// Time limit.
    pub deadline: &'a Deadline,
}

impl<'a> Environment<'a> {
    /// Creates an environment with resources and a time limit, and nothing else.
    #[inline]
    pub fn new(bindings: &'a Bindings, deadline: &'a Deadline) -> Self {
        Self { bindings, parameters: &[], ranges: Ranges::none(), push: &[], shared: None, deadline }
    }
}

/// Reason why a wave stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The program ended.
    Done,
    /// The wave reached a barrier. It resumes once the other waves have reached it too.
    Barrier,
    /// The deadline passed.
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

    /// Checks every millisecond until the deadline passes, and returns how long that took.
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
