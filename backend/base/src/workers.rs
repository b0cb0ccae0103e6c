//! The worker threads of a GPU: started with the GPU, reused for all its work, joined when it is
//! dropped.
//!
//! The thread that starts a section of work also participates in it, so a pool of `threads` starts
//! one thread less. Several queues may run sections at the same time. Each queue then has its own
//! thread, and helpers in proportion to its weight. A section calls only idle helpers. If a
//! section has more helpers than its share, a helper leaves after its current index. So no queue
//! waits for longer than one index of another queue's work.
//!
//! When all work of a section is done, the section does not wait for helpers that were called but
//! have not woken up yet (`task.rs`). On a machine under load, waking up may take milliseconds. A
//! panic in the work propagates to the thread that started the section, and the worker threads
//! continue.

mod gate;
mod task;

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use self::task::Task;
use crate::host_thread;

/// Handle of one queue to the worker threads.
#[derive(Debug, Clone)]
pub struct Workers {
    crew: Arc<Crew>,
    /// Weight of this queue's work relative to the work of other queues, at least 1.
    weight: usize,
}

/// The worker threads, shared by all queues of a GPU.
#[derive(Debug)]
struct Crew {
    calls: Arc<Calls>,
    threads: Vec<JoinHandle<()>>,
    /// Number of helpers that participate in no section and are not called.
    idle: Arc<AtomicUsize>,
    /// Sum of the weights of the sections that run now.
    weights: AtomicUsize,
}

/// Longest time for which an idle thread spins before it sleeps.
///
/// Falling asleep and waking up require about as long. Tile passes run some hundred times a
/// second, a few microseconds after one another.
const AWAKE: Duration = Duration::from_micros(100);
/// Checks of a condition before the thread yields the processor: a few microseconds.
const LOOKS: u32 = 64;
/// Most tasks after which a helper sleeps at once, without spinning for the next call.
const MAX_ASLEEP: u32 = 16;

/// Most indices of a section. Each thread may increment the counter past the last index, and the
/// counter must not wrap around.
const MAX_INDICES: usize = usize::MAX >> 1;

/// Spins while `is_so` returns true, for up to [`AWAKE`]. Yields the processor to other threads.
fn spin(is_so: impl Fn() -> bool) {
    let mut begin = None;
    while (0..LOOKS).all(|_| {
        std::hint::spin_loop();
        is_so()
    }) && begin.get_or_insert_with(Instant::now).elapsed() < AWAKE
    {
        std::thread::yield_now();
    }
}

impl Workers {
    /// Starts workers for `threads` threads, which include the thread that starts sections.
    ///
    /// If the system cannot start a thread, the pool has fewer. Without any thread, the caller
    /// does all the work.
    pub fn new(threads: usize) -> Self {
        Self { crew: Arc::new(Crew::new(threads)), weight: 1 }
    }

    /// Returns a handle to the same threads for a queue of another weight. Weight 0 counts as 1.
    pub fn with_weight(&self, weight: usize) -> Self {
        Self { crew: self.crew.clone(), weight: weight.max(1) }
    }

    /// Returns the number of threads, which include the thread that starts sections.
    pub fn threads(&self) -> usize {
        self.crew.threads.len() + 1
    }

    /// Calls `work` with each index below `count`, on all threads.
    ///
    /// Each thread that participates first creates its own scratch.
    ///
    /// # Panics
    /// Panics if `work` panics.
    pub fn parallel<S>(&self, count: usize, scratch: impl Fn() -> S + Sync, work: impl Fn(&mut S, usize) + Sync) {
        let work = |scratch: &mut S, index| {
            work(scratch, index);
            true
        };
        self.parallel_while(count, scratch, work);
    }

    /// Works on indices like [`Self::parallel`] until `work` returns false.
    ///
    /// The function skips indices that no thread has begun by then.
    ///
    /// # Panics
    /// Panics if `work` panics.
    pub fn parallel_while<S>(
        &self,
        count: usize,
        scratch: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, usize) -> bool + Sync,
    ) {
        let count = count.min(MAX_INDICES);
        let next = AtomicUsize::new(0);
        let take_part = |goes_on: &dyn Fn() -> bool| {
            let mut index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return;
            }
            let mut scratch = scratch();
            while index < count {
                if !work(&mut scratch, index) {
                    next.fetch_max(count, Ordering::Relaxed);
                    return;
                }
                if !goes_on() {
                    return;
                }
                index = next.fetch_add(1, Ordering::Relaxed);
            }
        };
        if self.crew.threads.is_empty() || count <= 1 {
            return take_part(&|| true);
        }
        let section = Section::begin(self);
        let help = || section.help(|| take_part(&|| !section.has_too_many()));
        task::offer(&help, |task| {
            let _called = Called { section: &section, task };
            section.call(task, count - 1);
            take_part(&|| {
                // Other sections may have released helpers since the last index.
                if section.crew.idle.load(Ordering::Relaxed) > 0 {
                    section.call(task, count.saturating_sub(next.load(Ordering::Relaxed)));
                }
                true
            });
        });
        if let Some(panic) = section.panic.lock().unwrap_or_else(PoisonError::into_inner).take() {
            resume_unwind(panic);
        }
    }
}

impl Crew {
    fn new(threads: usize) -> Self {
        let (calls, idle) = (Arc::new(Calls::default()), Arc::new(AtomicUsize::new(0)));
        let start = |number: usize| {
            let (calls, idle) = (calls.clone(), idle.clone());
            let thread = host_thread::spawn(format!("vitric-worker-{number}"), move || calls.serve(&idle));
            thread.inspect_err(|error| log::warn!("worker threads: {error}")).ok()
        };
        let threads: Vec<_> = (0..threads.saturating_sub(1)).map_while(start).collect();
        idle.store(threads.len(), Ordering::Relaxed);
        Self { calls, threads, idle, weights: AtomicUsize::new(0) }
    }
}

/// Calls for helpers that no helper has accepted yet.
#[derive(Default)]
struct Calls {
    waiting: Mutex<Waiting>,
    /// Notified for each call that no awake helper can accept, and when the threads must end.
    ///
    /// This condition variable and the mutex are of the standard library. `parking_lot` keeps
    /// sleeping threads in a table of the process, and a fork copies that table locked if a thread
    /// is falling asleep.
    came: Condvar,
    /// Length of the queue, for readers without the lock.
    count: AtomicUsize,
    /// Number of helpers that spin for the next call.
    awake: AtomicUsize,
}

impl std::fmt::Debug for Calls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Calls").field("count", &self.count).field("awake", &self.awake).finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Waiting {
    tasks: VecDeque<Arc<Task>>,
    /// True when the threads must end.
    has_ended: bool,
}

impl Calls {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn call(&self, task: &Arc<Task>, helpers: usize) {
        let mut waiting = self.waiting();
        waiting.tasks.extend(std::iter::repeat_n(task, helpers).cloned());
        self.count.store(waiting.tasks.len(), Ordering::Relaxed);
        let asleep = waiting.tasks.len().saturating_sub(self.awake.load(Ordering::Relaxed)).min(helpers);
        drop(waiting);
        // Notifications of earlier calls are not repeated for helpers that have not woken up yet.
        (0..asleep).for_each(|_| self.came.notify_one());
    }

    /// Removes the calls of `task` that no helper has accepted, and returns their number.
    fn take_back(&self, task: &Arc<Task>) -> usize {
        if self.count.load(Ordering::Relaxed) == 0 {
            return 0;
        }
        let mut waiting = self.waiting();
        let before = waiting.tasks.len();
        waiting.tasks.retain(|other| !Arc::ptr_eq(other, task));
        self.count.store(waiting.tasks.len(), Ordering::Relaxed);
        before - waiting.tasks.len()
    }

    /// Waits for the next call and returns its task, or `None` when the threads must end.
    fn next(&self) -> Option<Arc<Task>> {
        let mut waiting = self.waiting();
        loop {
            if waiting.has_ended {
                return None;
            }
            if let Some(task) = waiting.tasks.pop_front() {
                self.count.store(waiting.tasks.len(), Ordering::Relaxed);
                return Some(task);
            }
            waiting = self.came.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Spins for a call, and returns true if there is one.
    fn linger(&self) -> bool {
        self.awake.fetch_add(1, Ordering::Relaxed);
        spin(|| self.count.load(Ordering::Relaxed) == 0);
        self.awake.fetch_sub(1, Ordering::Relaxed);
        self.count.load(Ordering::Relaxed) > 0
    }

    /// Runs a helper: participates in each task that it is called for, until the threads must end.
    ///
    /// After a task the helper spins for the next call. If no call came in time, the helper sleeps
    /// at once after its next task. Each further spin without a call doubles this number of tasks,
    /// up to [`MAX_ASLEEP`].
    fn serve(&self, idle: &AtomicUsize) {
        let (mut asleep, mut next_asleep) = (0, 1);
        while let Some(task) = self.next() {
            let took_part = task.take_part();
            drop(task);
            if !took_part {
                // The section ended before this helper entered. The section's end counted only the
                // calls that it removed as idle again, so this helper counts itself.
                idle.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            if asleep > 0 {
                asleep -= 1;
            } else if self.linger() {
                next_asleep = 1;
            } else {
                asleep = next_asleep;
                next_asleep = MAX_ASLEEP.min(next_asleep * 2);
            }
        }
    }
}

/// Work of one caller that is not done yet.
struct Section<'w> {
    crew: &'w Crew,
    weight: usize,
    /// Number of helpers that were called and have not left.
    helpers: AtomicUsize,
    /// The first panic of a helper.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl<'w> Section<'w> {
    fn begin(workers: &'w Workers) -> Self {
        let (crew, weight) = (&workers.crew, workers.weight);
        crew.weights.fetch_add(weight, Ordering::Relaxed);
        Self { crew, weight, helpers: AtomicUsize::new(0), panic: Mutex::default() }
    }

    /// Returns the most helpers that the section may have. A section without competitors may have
    /// all.
    fn share(&self) -> usize {
        let weights = self.crew.weights.load(Ordering::Relaxed).max(self.weight);
        (self.crew.threads.len() * self.weight).div_ceil(weights)
    }

    fn is_alone(&self) -> bool {
        self.crew.weights.load(Ordering::Relaxed) == self.weight
    }

    fn has_too_many(&self) -> bool {
        !self.is_alone() && self.helpers.load(Ordering::Relaxed) > self.share()
    }

    /// Calls idle helpers until the section has `most` helpers, or its share.
    fn call(&self, task: &Arc<Task>, most: usize) {
        let most = most.min(self.share());
        let is_idle = |idle: usize| idle.checked_sub(1);
        let mut called = 0;
        while self.helpers.load(Ordering::Relaxed) < most
            && self.crew.idle.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_idle).is_ok()
        {
            self.helpers.fetch_add(1, Ordering::Relaxed);
            called += 1;
        }
        if called > 0 {
            self.crew.calls.call(task, called);
        }
    }

    /// Runs `work` as a helper and stores its panic.
    ///
    /// The helper counts as idle before the section can end, so that the next section of the same
    /// thread finds it.
    fn help(&self, work: impl Fn()) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
            self.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(panic);
        }
        self.helpers.fetch_sub(1, Ordering::Relaxed);
        self.crew.idle.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Section<'_> {
    fn drop(&mut self) {
        self.crew.weights.fetch_sub(self.weight, Ordering::Relaxed);
    }
}

/// Guard of a section's calls. Its drop closes the task and removes the calls that no helper has
/// accepted.
struct Called<'s> {
    section: &'s Section<'s>,
    task: &'s Arc<Task>,
}

impl Drop for Called<'_> {
    fn drop(&mut self) {
        self.task.close();
        let crew = self.section.crew;
        crew.idle.fetch_add(crew.calls.take_back(self.task), Ordering::Relaxed);
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.calls.waiting().has_ended = true;
        self.calls.came.notify_all();
        for thread in self.threads.drain(..) {
            // Panics in work already propagated to the callers. A worker that ended by itself
            // needs no cleanup.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::HashSet;
    use std::sync::Barrier;
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn every_index_is_worked_on_once() {
        for threads in [0, 1, 2, 5] {
            let workers = Workers::new(threads);
            for count in [0, 1, 2, 3, 1000] {
                let seen: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
                workers.parallel(count, || (), |(), index| _ = seen[index].fetch_add(1, Ordering::Relaxed));
                assert!(seen.iter().all(|times| times.load(Ordering::Relaxed) == 1), "{threads} threads, {count}");
            }
        }
    }

    #[test]
    fn work_that_is_to_stop_stops() {
        for threads in [1, 4] {
            let done = AtomicUsize::new(0);
            let work = |(): &mut (), _| done.fetch_add(1, Ordering::Relaxed) < 100;
            Workers::new(threads).parallel_while(usize::MAX, || (), work);
            let done = done.into_inner();
            assert!((101..101 + threads).contains(&done), "{threads} threads, {done}");
        }
    }

    /// Runs `visit` on exactly `threads` different threads, because each thread waits for the
    /// others.
    fn meet(workers: &Workers, threads: usize, visit: impl Fn() + Sync) {
        let barrier = Barrier::new(threads);
        workers.parallel(
            threads,
            || (),
            |(), _| {
                barrier.wait();
                visit();
            },
        );
    }

    #[test]
    fn threads_are_kept() {
        let workers = Workers::new(4);
        let seen = Mutex::new(HashSet::new());
        for _ in 0..20 {
            meet(&workers, 4, || _ = seen.lock().unwrap().insert(std::thread::current().id()));
        }
        assert_eq!(seen.into_inner().unwrap().len(), 4);
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_threads_live_on() {
        let workers = Workers::new(3);
        for _ in 0..10 {
            let run = || workers.parallel(100, || (), |(), index| assert!(index != 50, "on purpose"));
            assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
            let met = AtomicUsize::new(0);
            meet(&workers, 3, || _ = met.fetch_add(1, Ordering::Relaxed));
            assert_eq!(met.into_inner(), 3);
        }
    }

    #[test]
    fn several_threads_hand_out_work_at_once() {
        let workers = Workers::new(3);
        std::thread::scope(|scope| {
            for factor in 1..=4 {
                let workers = &workers;
                scope.spawn(move || {
                    for _ in 0..100 {
                        let sum = AtomicUsize::new(0);
                        workers.parallel(50, || (), |(), index| _ = sum.fetch_add(index * factor, Ordering::Relaxed));
                        assert_eq!(sum.into_inner(), 49 * 25 * factor);
                    }
                });
            }
        });
    }

    /// One queue's work cannot block another queue: here the first section ends only after the
    /// second.
    #[test]
    fn a_section_ends_while_another_keeps_all_helpers() {
        let workers = Workers::new(3);
        let (begun, done) = (Barrier::new(4), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let wait = || {
                    while !done.load(Ordering::Acquire) {
                        std::thread::yield_now()
                    }
                };
                let work = |(): &mut (), _| {
                    begun.wait();
                    wait();
                };
                workers.parallel(3, || (), work);
            });
            begun.wait();
            let sum = AtomicUsize::new(0);
            workers.parallel(100, || (), |(), index| _ = sum.fetch_add(index, Ordering::Relaxed));
            assert_eq!(sum.into_inner(), 99 * 50);
            done.store(true, Ordering::Release);
        });
    }

    /// The end of a section does not wait for helpers that were called but are busy until then.
    #[test]
    fn a_section_ends_without_helpers_that_do_not_come() {
        let workers = Workers::new(2);
        let release = AtomicBool::new(false);
        let hold = || {
            while !release.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
        };
        // The helper is inside a task of no section, so sections count it as idle.
        task::offer(&hold, |task| {
            workers.crew.calls.call(task, 1);
            while workers.crew.calls.count.load(Ordering::Relaxed) > 0 {
                std::thread::yield_now();
            }
            for _ in 0..10 {
                let sum = AtomicUsize::new(0);
                workers.parallel(100, || (), |(), index| _ = sum.fetch_add(index, Ordering::Relaxed));
                assert_eq!(sum.into_inner(), 99 * 50);
                assert_eq!(workers.crew.idle.load(Ordering::Relaxed), 1, "the call was taken back");
            }
            release.store(true, Ordering::Release);
        });
        // After the release the helper participates again.
        meet(&workers, 2, || ());
    }

    /// A long section releases helpers to a later section, and calls them again after that
    /// section.
    #[test]
    fn helpers_are_shared() {
        let workers = Workers::new(3);
        let (done, again) = (AtomicBool::new(false), AtomicBool::new(false));
        let threads = || Mutex::new(HashSet::new());
        let note = |seen: &Mutex<HashSet<_>>| {
            std::thread::sleep(std::time::Duration::from_micros(100));
            let mut seen = seen.lock().unwrap();
            seen.insert(std::thread::current().id());
            seen.len()
        };
        let (first, later) = (threads(), threads());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let work = |(): &mut (), _| {
                    let is_done = done.load(Ordering::Acquire);
                    let seen = note(if is_done { &later } else { &first });
                    again.fetch_or(is_done && seen == 3, Ordering::Release);
                    // Only a panic ends a section of so many indices.
                    assert!(!again.load(Ordering::Acquire), "on purpose");
                };
                let run = || workers.parallel(usize::MAX >> 1, || (), work);
                assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
            });
            while first.lock().unwrap().len() < 3 {
                std::thread::yield_now();
            }
            let helped = AtomicBool::new(false);
            let seen = threads();
            while !helped.load(Ordering::Acquire) {
                workers.parallel(100, || (), |(), _| _ = helped.fetch_or(note(&seen) > 1, Ordering::Release));
            }
            done.store(true, Ordering::Release);
        });
    }

    #[test]
    fn shares_follow_weights() {
        let workers = Workers::new(8);
        let heavy = workers.with_weight(3);
        let one = Section::begin(&workers);
        assert_eq!(one.share(), 7);
        let other = Section::begin(&heavy);
        assert_eq!((one.share(), other.share()), (2, 6));
        drop(one);
        assert_eq!(other.share(), 7);
    }

    #[test]
    fn dropping_joins_the_threads() {
        thread_local!(static HELD: RefCell<Option<Arc<()>>> = const { RefCell::new(None) });
        let held = Arc::new(());
        let workers = Workers::new(4);
        meet(&workers, 4, || HELD.set(Some(held.clone())));
        HELD.set(None);
        assert_eq!(Arc::strong_count(&held), 4, "three workers hold it, and the test");
        drop(workers);
        assert_eq!(Arc::strong_count(&held), 1, "a thread's own values go when it ends");
    }
}
