//! Time limit of running work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time limit of running work.
///
/// Running programs check the clock often. In a long gap between two checks the whole process was
/// stopped, for example by a debugger, a signal or a suspended machine. Most of such a gap is not
/// counted.
#[derive(Debug)]
pub struct Deadline {
    created: Instant,
    /// Time limit of one command, in nanoseconds. It also limits a single run of a program.
    command_limit: u64,
    /// Time limit of the current work, in nanoseconds: that of one command, or the sum over
    /// several.
    limit: AtomicU64,
    /// Time of the last check since the work began, in nanoseconds since `created`. 0 before the
    /// first check.
    last_check: AtomicU64,
    /// Time that the work has taken so far, in nanoseconds.
    spent: AtomicU64,
    expired: AtomicBool,
    /// Work that this part belongs to. Parts are commands whose fragments are shaded together with
    /// those of other commands.
    parent: Option<Arc<Self>>,
    /// Number of workers that currently work on the part.
    workers: AtomicU32,
}

/// Guard that counts a worker as working on a part until it is dropped.
#[derive(Debug)]
pub struct WorkerGuard<'a>(&'a Deadline);

impl Drop for WorkerGuard<'_> {
    fn drop(&mut self) {
        self.0.expired();
        self.0.workers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Divisor that limits a gap between two checks: at most 1/10 of a command's time is counted.
const GAP_DIVISOR: u64 = 10;

impl Deadline {
    /// Creates a deadline for commands that may take `time` each, and begins the first one.
    #[inline]
    pub fn after(time: Duration) -> Arc<Self> {
        let command_limit = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Arc::new(Self::new(Instant::now(), command_limit, command_limit, None))
    }

    fn new(created: Instant, command_limit: u64, limit: u64, parent: Option<Arc<Self>>) -> Self {
        let (last_check, spent, expired, workers) = Default::default();
        Self { created, command_limit, limit: limit.into(), last_check, spent, expired, parent, workers }
    }

    /// Returns the deadline of a part of this work that consists of `commands` commands. Only time
    /// in which at least one worker works on the part is counted, see [`Self::enter`].
    #[inline]
    pub fn part(self: &Arc<Self>, commands: u32) -> Self {
        let limit = self.command_limit.saturating_mul(commands.max(1).into());
        Self::new(self.created, self.command_limit, limit, Some(self.clone()))
    }

    /// Begins work on a part. Returns `None` for a deadline that is not a part, whose time is
    /// always counted.
    pub fn enter(&self) -> Option<WorkerGuard<'_>> {
        self.parent.as_ref()?;
        if self.workers.fetch_add(1, Ordering::Relaxed) == 0 {
            self.last_check.fetch_max(self.now(), Ordering::Relaxed);
        }
        Some(WorkerGuard(self))
    }

    /// Begins to measure a command, starting with the next check. No program may be running.
    #[inline]
    pub fn begin(&self) {
        self.begin_with(self.command_limit);
    }

    /// Begins to measure work that may take `limit` nanoseconds, starting with the next check. No
    /// program may be running.
    #[inline]
    pub fn begin_with(&self, limit: u64) {
        self.limit.store(limit, Ordering::Relaxed);
        self.last_check.store(0, Ordering::Relaxed);
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
        if self.is_stopped() {
            return true;
        }
        let now = self.now();
        let has_workers = self.parent.is_none() || self.workers.load(Ordering::Relaxed) > 0;
        let is_parent_over = self.parent.as_ref().is_some_and(|parent| parent.add_elapsed(now));
        let is_over = has_workers && self.add_elapsed(now) || is_parent_over;
        if is_over {
            self.stop_programs();
        }
        is_over
    }

    /// Returns the current time in nanoseconds since `created`, at least 1.
    fn now(&self) -> u64 {
        self.created.elapsed().as_nanos().max(1) as u64
    }

    /// Adds the time since the last check. Returns true if the work has reached its limit.
    fn add_elapsed(&self, now: u64) -> bool {
        let gap = match self.last_check.fetch_max(now, Ordering::Relaxed) {
            0 => 0,
            before => now.saturating_sub(before).min(self.command_limit / GAP_DIVISOR + 1),
        };
        self.spent.fetch_add(gap, Ordering::Relaxed) + gap >= self.limit.load(Ordering::Relaxed)
    }

    /// Stops the programs of the whole work.
    fn stop_programs(&self) {
        self.parent.as_deref().unwrap_or(self).expired.store(true, Ordering::Relaxed);
    }

    /// Checks the clock during one run of a program. `since` is 0 at the run's first check, and
    /// the caller keeps it for the next one. Returns true if the run must stop. A run must also
    /// stop if it takes longer than one command may.
    pub fn expired_in_run(&self, since: &mut u64) -> bool {
        let is_over = self.expired();
        let now = self.parent.as_deref().unwrap_or(self).spent() + 1;
        if *since == 0 {
            *since = now;
        }
        if !is_over && now.saturating_sub(*since) >= self.command_limit {
            self.stop_programs();
        }
        self.is_stopped()
    }

    /// Returns true if a program was stopped.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.parent.as_deref().unwrap_or(self).expired.load(Ordering::Relaxed)
    }
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
        assert!(deadline.is_stopped());
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
        assert!(deadline.left() > 0 && deadline.is_stopped());
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
        assert!(whole.is_stopped() && one.expired(), "all stop with one part");
    }
}
