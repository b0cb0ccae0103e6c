//! Atomics and fences behind a trait, implemented by the machine's atomics and by loom's model.
//!
//! Loom explores the interleavings and memory orders that threads can observe.

use std::sync::atomic::{AtomicU64, Ordering};

/// A set of atomics and fences: the machine's, or a model's.
pub trait World: std::fmt::Debug {
    /// Atomic word of 64 bits.
    type Word: Word + std::fmt::Debug;
    /// Executes a memory fence.
    fn fence(ordering: Ordering);
    /// Yields to another thread, in a loop that depends on the progress of that thread.
    fn wait();
}

/// An atomic word of 64 bits.
pub trait Word {
    /// Returns a new word with this value.
    fn new(value: u64) -> Self;
    /// Returns the current value.
    fn load(&self, ordering: Ordering) -> u64;
    /// Replaces the value.
    fn store(&self, value: u64, ordering: Ordering);
    /// Replaces the value if it equals `known`, and returns true if it did.
    ///
    /// The exchange has the order `ordering` if it succeeds, and is relaxed if it fails.
    fn exchange(&self, known: u64, value: u64, ordering: Ordering) -> bool;
}

/// The atomics of the machine, from the standard library.
#[derive(Debug)]
pub struct Machine;

impl World for Machine {
    type Word = AtomicU64;
    fn fence(ordering: Ordering) {
        std::sync::atomic::fence(ordering);
    }
    fn wait() {
        std::thread::yield_now();
    }
}

/// Implements [`Word`] for an atomic type, the machine's or the model's.
macro_rules! word {
    ($word:ty) => {
        impl Word for $word {
            fn new(value: u64) -> Self {
                Self::new(value)
            }
            fn load(&self, ordering: Ordering) -> u64 {
                self.load(ordering)
            }
            fn store(&self, value: u64, ordering: Ordering) {
                self.store(value, ordering);
            }
            fn exchange(&self, known: u64, value: u64, ordering: Ordering) -> bool {
                self.compare_exchange(known, value, ordering, Ordering::Relaxed).is_ok()
            }
        }
    };
}

word!(AtomicU64);

/// Loom's model: every interleaving of threads, and every value that a load may return.
#[cfg(any(test, feature = "model"))]
pub mod model {
    use loom::sync::atomic::AtomicU64 as Modelled;

    use super::{Ordering, Word, World};

    /// The atomics of loom's model.
    #[derive(Debug)]
    pub struct Model;

    impl World for Model {
        type Word = Modelled;
        fn fence(ordering: Ordering) {
            loom::sync::atomic::fence(ordering);
        }
        fn wait() {
            loom::thread::yield_now();
        }
    }

    word!(Modelled);

    /// Explores all interleavings of `scene` with at most `preemptions` preemptions of threads.
    pub fn explore(preemptions: usize, scene: impl Fn() + Send + Sync + 'static) {
        let mut model = loom::model::Builder::new();
        (model.preemption_bound, model.max_branches) = (Some(preemptions), 20_000);
        model.check(scene);
    }
}
