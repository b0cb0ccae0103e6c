//! Who is in a piece of work that one thread offers to others: threads enter while it is open, and the thread that closes it learns when
//! the last one has left. A thread that comes late finds it closed and touches nothing.
//!
//! Written against [`World`], so that loom explores the code that runs.

use std::sync::atomic::Ordering;

use crate::sync::{Word, World};

/// Set once nobody may enter any more. The other bits count the threads that are in.
const CLOSED: u64 = 1 << 63;

/// Count of the threads that are in, and whether more may enter.
#[derive(Debug)]
pub struct Gate<W: World>(W::Word);

impl<W: World> Gate<W> {
    /// Returns an open gate with nobody in.
    pub fn new() -> Self {
        Self(W::Word::new(0))
    }

    /// Enters, unless the gate is closed; returns whether it did. Then what was written before the gate was made known is visible.
    pub fn enter(&self) -> bool {
        self.update(Ordering::Acquire, |state| (state & CLOSED == 0).then_some(state + 1)).is_some()
    }

    /// Leaves, and returns true for the last thread to leave a closed gate. What this thread has written becomes visible to the thread
    /// that sees the gate empty.
    pub fn leave(&self) -> bool {
        self.update(Ordering::Release, |state| Some(state - 1)) == Some(CLOSED + 1)
    }

    /// Keeps more threads from entering.
    pub fn close(&self) {
        self.update(Ordering::AcqRel, |state| Some(state | CLOSED));
    }

    /// Returns true when nobody is in. After [`Gate::close`] that stays so.
    pub fn is_empty(&self) -> bool {
        self.0.load(Ordering::Acquire) & !CLOSED == 0
    }

    /// Replaces the state by what `change` makes of it, and returns the state before; `None` where `change` returns that.
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

    /// Work that its thread takes back: loom reports a use of it that no order keeps apart from that.
    fn offer(helpers: usize) {
        let shared = Arc::new((Gate::<Model>::new(), UnsafeCell::new(1), UnsafeCell::new([0; 2])));
        let threads: Vec<_> = (0..helpers)
            .map(|number| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let (gate, work, results) = &*shared;
                    let entered = gate.enter();
                    if entered {
                        // SAFETY: loom checks it. Each thread writes its own number.
                        let value = work.with(|work| unsafe { *work });
                        // SAFETY: loom checks that nobody reads meanwhile.
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
        // SAFETY: loom checks it.
        work.with_mut(|work| unsafe { *work = 7 });
        // SAFETY: loom checks it.
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
