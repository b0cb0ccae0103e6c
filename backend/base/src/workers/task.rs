//! Work on the stack of one thread that other threads take part in for a time.
//!
//! The threads of a pool outlive what they work on, so the borrow of that work ends where the compiler cannot see it: this file is the
//! room for it. A [`Gate`] says who is in. [`offer`] returns only when it is closed and empty; a thread that was called and comes later
//! finds it closed, and never touches the work. So nobody has to wait for threads that were called and have not woken.

use std::marker::PhantomData;
use std::sync::Arc;
use std::thread::Thread;

use super::gate::Gate;
use super::spin;
use crate::sync::Machine;

/// Work that is on offer, or was.
pub struct Task {
    gate: Gate<Machine>,
    /// Only dereferenced by threads that are in the gate.
    work: *const (dyn Fn() + Sync),
    /// The thread that offers the work, and sleeps until the last one has left.
    owner: Thread,
}

// SAFETY: `work` is called through a shared reference to a `Sync` closure, and only while the gate keeps `offer` from returning; the
// other fields are `Send` and `Sync` by themselves.
unsafe impl Send for Task {}
// SAFETY: see `Send`.
unsafe impl Sync for Task {}

impl Task {
    /// Ends the work for threads that have not come.
    pub fn close(&self) {
        self.gate.close();
    }

    /// Takes part in the work, and returns true; returns false where it is over.
    pub fn take_part(&self) -> bool {
        if !self.gate.enter() {
            return false;
        }
        let _inside = Inside(self);
        // SAFETY: this thread is in the gate, until `_inside` goes. The gate was open then, so that `offer` had not begun to wait, and it does not
        // return until this thread has left: the closure that it borrows is alive.
        let work = unsafe { &*self.work };
        work();
        true
    }
}

/// Leaves the gate, also when the work panics.
struct Inside<'t>(&'t Task);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        if self.0.gate.leave() {
            self.0.owner.unpark();
        }
    }
}

/// Closes the gate and waits until it is empty, also when a panic passes.
struct Offered<'w> {
    task: Arc<Task>,
    _work: PhantomData<&'w (dyn Fn() + Sync)>,
}

impl Drop for Offered<'_> {
    fn drop(&mut self) {
        let gate = &self.task.gate;
        gate.close();
        spin(|| !gate.is_empty());
        while !gate.is_empty() {
            // Woken by the last thread that leaves.
            std::thread::park();
        }
    }
}

/// Offers `work` to whoever `hand_out` gives the task to, and returns what that returns when no other thread is in `work` any more.
pub fn offer<'w, R>(work: &'w (dyn Fn() + Sync + 'w), hand_out: impl FnOnce(&Arc<Task>) -> R) -> R {
    let work: *const (dyn Fn() + Sync + 'w) = work;
    // SAFETY: only the lifetime of what is pointed to changes; `Task::take_part` says why it is alive where it is used.
    let work = unsafe { std::mem::transmute::<*const (dyn Fn() + Sync + 'w), *const (dyn Fn() + Sync)>(work) };
    let task = Arc::new(Task { gate: Gate::new(), work, owner: std::thread::current() });
    let offered = Offered { task, _work: PhantomData };
    hand_out(&offered.task)
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_task_is_over_when_its_offer_returns() {
        let times = AtomicUsize::new(0);
        let work = || _ = times.fetch_add(1, Ordering::Relaxed);
        let kept = offer(&work, |task| {
            assert!(task.take_part() && task.take_part());
            task.clone()
        });
        assert!(!kept.take_part());
        assert_eq!(times.into_inner(), 2);
    }

    #[test]
    fn panics_of_offers_and_of_work_leave_the_gate() {
        let mut kept = None;
        let offered = catch_unwind(AssertUnwindSafe(|| {
            offer(&|| panic!("on purpose"), |task| {
                assert!(catch_unwind(AssertUnwindSafe(|| task.take_part())).is_err());
                kept = Some(task.clone());
                panic!("on purpose, too");
            })
        }));
        assert!(offered.is_err() && !kept.unwrap().take_part());
    }

    /// Values on stacks that go: what any thread reads afterwards is something else.
    #[test]
    fn threads_that_come_late_touch_nothing() {
        let (sender, tasks) = crossbeam::channel::bounded::<Arc<Task>>(4);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                let tasks = tasks.clone();
                scope.spawn(move || tasks.into_iter().for_each(|task| _ = task.take_part()));
            }
            for round in 0..2_000usize {
                let (value, seen) = ([round; 64], AtomicUsize::new(0));
                let work = || {
                    assert!(value.iter().all(|value| *value == round));
                    seen.fetch_add(1, Ordering::Relaxed);
                };
                let sent = offer(&work, |task| (0..3).filter(|_| sender.try_send(task.clone()).is_ok()).count());
                let seen = seen.load(Ordering::Relaxed);
                assert!(seen <= sent, "{seen} of {sent}");
            }
            drop(sender);
        });
    }
}
