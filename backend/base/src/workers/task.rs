//! Work on the stack of one thread that other threads participate in for a limited time.
//!
//! The threads of a pool outlive the work that they participate in, so the compiler cannot check
//! the borrow of that work. This module confines the unsafe code for it. A [`Gate`] counts the
//! participants. [`offer`] returns only when the gate is closed and empty. A called thread that
//! comes later finds the gate closed and never accesses the work. So no thread waits for called
//! threads that have not woken up.

use std::marker::PhantomData;
use std::sync::Arc;
use std::thread::Thread;

use super::gate::Gate;
use super::spin;
use crate::sync::Machine;

/// Work that a thread offers, or has offered, to other threads.
pub struct Task {
    gate: Gate<Machine>,
    /// The work. Only threads inside the gate dereference this pointer.
    work: *const (dyn Fn() + Sync),
    /// The thread that offers the work, and sleeps until the last participant has left.
    owner: Thread,
}

// SAFETY: threads call `work` through a shared reference to a `Sync` closure, and only while the
// gate keeps `offer` from returning. All other fields are `Send` and `Sync`.
unsafe impl Send for Task {}
// SAFETY: threads call `work` through a shared reference to a `Sync` closure, and only while the
// gate keeps `offer` from returning. All other fields are `Send` and `Sync`.
unsafe impl Sync for Task {}

impl Task {
    /// Prevents more threads from entering the work.
    pub fn close(&self) {
        self.gate.close();
    }

    /// Runs the work and returns true, or returns false if the task is closed.
    pub fn take_part(&self) -> bool {
        if !self.gate.enter() {
            return false;
        }
        let _inside = Inside(self);
        // SAFETY: this thread is inside the gate until `_inside` is dropped. The gate was open
        // when the thread entered, so `offer` had not begun to wait. `offer` does not return until
        // this thread has left, so the closure that it borrows is alive.
        let work = unsafe { &*self.work };
        work();
        true
    }
}

/// Guard of a thread inside the gate. Its drop leaves the gate, also when the work panics.
struct Inside<'t>(&'t Task);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        if self.0.gate.leave() {
            self.0.owner.unpark();
        }
    }
}

/// Guard that closes the gate and waits until it is empty, also during a panic.
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
            // The last thread that leaves unparks this thread.
            std::thread::park();
        }
    }
}

/// Offers `work` to the threads that `hand_out` passes the task to, and returns the result of
/// `hand_out`.
///
/// Returns only when no other thread is inside `work` any more.
pub fn offer<'w, R>(work: &'w (dyn Fn() + Sync + 'w), hand_out: impl FnOnce(&Arc<Task>) -> R) -> R {
    let work: *const (dyn Fn() + Sync + 'w) = work;
    // SAFETY: the types differ only in the lifetime of the pointee. Only `Task::take_part`
    // dereferences the pointer, while `offer` has not returned and the pointee is alive.
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

    /// Threads that come after the offer's end access nothing of its stack frame.
    ///
    /// Each round puts other values on the stack, so that a late access would read a wrong value.
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
