//! The worker threads of a GPU: started with it, kept from one piece of work to the next, joined when it goes.
//!
//! The thread that hands work out takes part in it, so a pool of `threads` has one thread less of its own. Several queues may
//! hand out work at the same time: then each has its own thread, and helpers in proportion to its weight. Helpers are only
//! called while they are idle, and leave a section that has more than its share after the piece at hand; so no queue ever
//! waits for more than a piece of another's work. A panic in the work reaches who handed it out; the threads live on.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rayon_core::{Scope, ThreadPool, ThreadPoolBuilder};

use crate::host_memory;

/// Worker threads, as one queue sees them.
#[derive(Debug, Clone)]
pub(crate) struct Workers {
    crew: Arc<Crew>,
    /// How much this queue's work counts beside that of others, at least 1.
    weight: usize,
}

/// The threads themselves.
#[derive(Debug)]
struct Crew {
    /// `None` where there is one thread only, or no more could be started.
    pool: Option<ThreadPool>,
    threads: Vec<JoinHandle<()>>,
    /// Helpers that take part in nothing.
    idle: AtomicUsize,
    /// Weights of the sections that run now.
    weights: AtomicUsize,
    /// How often work was handed out.
    sections: Arc<AtomicUsize>,
}

/// How long a thread stays awake with nothing to do: sleeping and waking take about as long. Tiles are walked some hundred times a
/// second, a few microseconds after one another.
const AWAKE: Duration = Duration::from_micros(100);

/// Waits awake as long as something is so, but not for long.
fn spin(is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while is_so() && begin.elapsed() < AWAKE {
        std::hint::spin_loop();
    }
}

impl Workers {
    /// Workers for `threads` threads, the one that hands work out included. Where the system gives none, that one does
    /// everything.
    pub(crate) fn new(threads: usize) -> Self {
        Self { crew: Arc::new(Crew::new(threads)), weight: 1 }
    }

    /// The same threads for a queue of another weight, at least 1.
    pub(crate) fn with_weight(&self, weight: usize) -> Self {
        Self { crew: self.crew.clone(), weight: weight.max(1) }
    }

    /// Calls `work` with each index below `count`, on all threads; each that takes part makes its own scratch first.
    pub(crate) fn parallel<S>(
        &self,
        count: usize,
        scratch: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, usize) + Sync,
    ) {
        let next = AtomicUsize::new(0);
        let take_part = |goes_on: &dyn Fn() -> bool| {
            let mut index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return;
            }
            let mut scratch = scratch();
            while index < count {
                work(&mut scratch, index);
                if !goes_on() {
                    return;
                }
                index = next.fetch_add(1, Ordering::Relaxed);
            }
        };
        let Some(pool) = self.crew.pool.as_ref().filter(|_| count > 1) else { return take_part(&|| true) };
        let section = Section::begin(self);
        let help = || {
            let _helping = Helping(&section);
            take_part(&|| !section.has_too_many());
            if section.is_alone() {
                self.crew.linger(pool, section.number);
            }
        };
        pool.in_place_scope(|scope| {
            section.call(scope, count - 1, &help);
            take_part(&|| {
                // Helpers that other sections let go.
                if section.crew.idle.load(Ordering::Relaxed) > 0 {
                    section.call(scope, count.saturating_sub(next.load(Ordering::Relaxed)), &help);
                }
                true
            });
            spin(|| section.helpers.load(Ordering::Relaxed) > 0);
        });
    }
}

impl Crew {
    fn new(threads: usize) -> Self {
        let started = Mutex::new(Vec::new());
        let spawn = |worker: rayon_core::ThreadBuilder| {
            if !host_memory::has_room_for_threads(1) {
                return Err(std::io::ErrorKind::OutOfMemory.into());
            }
            let name = format!("vitric-worker-{}", worker.index());
            let thread = std::thread::Builder::new().name(name).spawn(|| worker.run())?;
            started.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
            Ok(())
        };
        let helpers = threads.saturating_sub(1);
        let build = || ThreadPoolBuilder::new().num_threads(helpers).spawn_handler(spawn).build();
        let pool = if helpers == 0 { None } else { build().inspect_err(|e| log::warn!("worker threads: {e}")).ok() };
        let threads = started.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (sections, idle, weights) = (Arc::default(), AtomicUsize::new(helpers), AtomicUsize::new(0));
        Self { pool, threads, idle, weights, sections }
    }

    /// Keeps the worker that calls this awake, in case that there is more work soon.
    fn linger(&self, pool: &ThreadPool, section: usize) {
        let sections = self.sections.clone();
        pool.spawn(move || spin(|| sections.load(Ordering::Relaxed) == section));
    }
}

/// Work that was handed out and is not done yet.
struct Section<'w> {
    crew: &'w Crew,
    weight: usize,
    /// How often work had been handed out when this was.
    number: usize,
    helpers: AtomicUsize,
}

impl<'w> Section<'w> {
    fn begin(workers: &'w Workers) -> Self {
        let (crew, weight) = (&workers.crew, workers.weight);
        crew.weights.fetch_add(weight, Ordering::Relaxed);
        let number = crew.sections.fetch_add(1, Ordering::Relaxed) + 1;
        Self { crew, weight, number, helpers: AtomicUsize::new(0) }
    }

    /// Helpers that it may have: all, when nobody else needs any.
    fn share(&self) -> usize {
        let all = self.crew.pool.as_ref().map_or(0, ThreadPool::current_num_threads);
        let weights = self.crew.weights.load(Ordering::Relaxed).max(self.weight);
        (all * self.weight).div_ceil(weights)
    }

    fn is_alone(&self) -> bool {
        self.crew.weights.load(Ordering::Relaxed) == self.weight
    }

    fn has_too_many(&self) -> bool {
        !self.is_alone() && self.helpers.load(Ordering::Relaxed) > self.share()
    }

    /// Has idle helpers take part, until they are `most`, or its share.
    fn call<'s>(&self, scope: &Scope<'s>, most: usize, help: &'s (impl Fn() + Sync)) {
        let most = most.min(self.share());
        let is_idle = |idle: usize| idle.checked_sub(1);
        while self.helpers.load(Ordering::Relaxed) < most
            && self.crew.idle.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_idle).is_ok()
        {
            self.helpers.fetch_add(1, Ordering::Relaxed);
            scope.spawn(|_| help());
        }
    }
}

impl Drop for Section<'_> {
    fn drop(&mut self) {
        self.crew.weights.fetch_sub(self.weight, Ordering::Relaxed);
    }
}

/// Held by a helper that takes part.
struct Helping<'s>(&'s Section<'s>);

impl Drop for Helping<'_> {
    fn drop(&mut self) {
        self.0.helpers.fetch_sub(1, Ordering::Relaxed);
        self.0.crew.idle.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        drop(self.pool.take());
        for thread in self.threads.drain(..) {
            // A worker's panics were handed on long ago; what is left of one that ended by itself is nothing to wait for.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::HashSet;
    use std::panic::{AssertUnwindSafe, catch_unwind};
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

    /// The threads that work: as many as `threads`, since each waits for the others.
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

    /// Whatever one queue's work does, another's gets done: here the first ends only when the second has.
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

    /// A section that lasts gives helpers up to one that comes later, and gets them back when that ends.
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
                    // A panic is the way out of a section.
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
