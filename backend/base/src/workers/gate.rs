//! Gate of the threads that participate in work which one thread offers.
//!
//! Threads enter while the gate is open. The thread that closes the gate can wait until the last
//! participant has left. A thread that comes after the close cannot enter, and accesses nothing.
//! The gate is generic over [`World`], so that loom explores the code that runs in production.

use std::sync::atomic::Ordering;

use crate::sync::{Word, World};

/// Bit that is set once no thread may enter any more. The other bits count the threads inside.
const CLOSED: u64 = 1 << 63;

/// Count of the threads inside, and a bit that says if the gate is closed.
#[derive(Debug)]
pub struct Gate<W: World>(W::Word);

impl<W: World> Gate<W> {
    /// Returns an open gate without threads inside.
    pub fn new() -> Self {
        Self(W::Word::new(0))
    }

    /// Enters unless the gate is closed, and returns true if the thread has entered.
    ///
    /// Everything that was written before the gate was published is then visible to this thread.
    pub fn enter(&self) -> bool {
        self.update(Ordering::Acquire, |state| (state & CLOSED == 0).then_some(state + 1)).is_some()
    }

    /// Leaves, and returns true for the last thread to leave a closed gate.
    ///
    /// Writes of this thread become visible to the thread that observes the empty gate.
    pub fn leave(&self) -> bool {
        self.update(Ordering::Release, |state| Some(state - 1)) == Some(CLOSED + 1)
    }

    /// Prevents more threads from entering.
    pub fn close(&self) {
        self.update(Ordering::AcqRel, |state| Some(state | CLOSED));
    }

    /// Returns true if no thread is inside. After [`Gate::close`] an empty gate stays empty.
    pub fn is_empty(&self) -> bool {
        self.0.load(Ordering::Acquire) & !CLOSED == 0
    }

    /// Replaces the state by the result of `change`, and returns the previous state.
    ///
    /// Returns `None` without a replacement if `change` returns `None`.
    fn update(&self, ordering: Ordering, change: impl Fn(u64) -> Option<u64>) -> Option<u64> {
        loop {
            let state = self.0.load(Ordering::Relaxed);
            if self.0.exchange(state, change(state)?, ordering) {
                return Some(state);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    use super::*;
    use crate::sync::model::{Model, explore};

    /// Offers work to `helpers` threads, and reuses its memory afterwards.
    ///
    /// Loom reports an access to the work that is not ordered before the reuse.
    fn offer(helpers: usize) {
        let shared = Arc::new((Gate::<Model>::new(), UnsafeCell::new(1), UnsafeCell::new([0; 2])));
        let threads: Vec<_> = (0..helpers)
            .map(|number| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let (gate, work, results) = &*shared;
                    let entered = gate.enter();
                    if entered {
                        // SAFETY: loom checks that no thread writes the work meanwhile.
                        let value = work.with(|work| unsafe { *work });
                        // SAFETY: loom checks that no thread reads the results meanwhile. Each
                        // thread writes only the element with its own number.
                        results.with(|results| unsafe { (*results.cast_mut())[number] = value });
                    }
                    (entered, entered && gate.leave())
                })
            })
            .collect();
        let (gate, work, results) = &*shared;
        gate.close();
        while !gate.is_empty() {
            Model::wait();
        }
        // SAFETY: loom checks that no thread accesses the work meanwhile.
        work.with_mut(|work| unsafe { *work = 7 });
        // SAFETY: loom checks that no thread accesses the results meanwhile.
        let done = results.with_mut(|results| unsafe { *results });
        let ends: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        for (number, (entered, _)) in ends.iter().enumerate() {
            assert_eq!(done[number], i32::from(*entered), "what was entered is done, and seen");
        }
        assert!(ends.iter().filter(|(_, is_last)| *is_last).count() <= 1);
        assert!(!gate.enter(), "it stays closed");
    }

    #[test]
    fn nobody_is_in_work_that_was_taken_back() {
        explore(4, || offer(1));
        explore(3, || offer(2));
    }
}
