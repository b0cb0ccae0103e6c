//! The worker threads of a GPU: started with it, kept from one piece of work to the next, joined when it goes.
//!
//! The thread that hands work out takes part in it, so a pool of `threads` has one thread less of its own, and several
//! queues may hand out work at the same time. A panic in the work reaches who handed it out; the threads live on.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rayon_core::{ThreadPool, ThreadPoolBuilder};

/// Worker threads.
#[derive(Debug)]
pub(crate) struct Workers {
    /// `None` where there is one thread only, or no more could be started.
    pool: Option<ThreadPool>,
    threads: Vec<JoinHandle<()>>,
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
        let started = Mutex::new(Vec::new());
        let spawn = |worker: rayon_core::ThreadBuilder| {
            let name = format!("vitric-worker-{}", worker.index());
            let thread = std::thread::Builder::new().name(name).spawn(|| worker.run())?;
            started.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
            Ok(())
        };
        let helpers = threads.saturating_sub(1);
        let build = || ThreadPoolBuilder::new().num_threads(helpers).spawn_handler(spawn).build();
        let pool = if helpers == 0 { None } else { build().inspect_err(|e| log::warn!("worker threads: {e}")).ok() };
        Self { pool, sections: Arc::default(), threads: started.into_inner().unwrap_or_else(PoisonError::into_inner) }
    }

    /// Keeps the worker that calls this awake, in case that there is more work soon.
    fn linger(&self, pool: &ThreadPool, section: usize) {
        let sections = self.sections.clone();
        pool.spawn(move || spin(|| sections.load(Ordering::Relaxed) == section));
    }

    /// Calls `work` with each index below `count`, on all threads; each that takes part makes its own scratch first.
    pub(crate) fn parallel<S>(
        &self,
        count: usize,
        scratch: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, usize) + Sync,
    ) {
        let next = AtomicUsize::new(0);
        let take_part = || {
            let mut index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return;
            }
            let mut scratch = scratch();
            while index < count {
                work(&mut scratch, index);
                index = next.fetch_add(1, Ordering::Relaxed);
            }
        };
        let Some(pool) = self.pool.as_ref().filter(|_| count > 1) else { return take_part() };
        let helpers = pool.current_num_threads().min(count - 1);
        let busy = AtomicUsize::new(helpers);
        let section = self.sections.fetch_add(1, Ordering::Relaxed) + 1;
        pool.in_place_scope(|scope| {
            for _ in 0..helpers {
                scope.spawn(|_| {
                    take_part();
                    self.linger(pool, section);
                    busy.fetch_sub(1, Ordering::Relaxed);
                });
            }
            take_part();
            spin(|| busy.load(Ordering::Relaxed) > 0);
        });
    }
}

impl Drop for Workers {
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
    use std::sync::{Arc, Barrier};

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
