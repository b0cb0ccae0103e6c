//! Atomic words and fences: the machine's, or those of a model that explores what threads may do (loom).

use std::sync::atomic::{AtomicU64, Ordering};

/// Atomic words and fences: the machine's, or a model's.
pub trait World: std::fmt::Debug {
    /// An atomic word.
    type Word: Word + std::fmt::Debug;
    /// A fence.
    fn fence(ordering: Ordering);
    /// Somebody else must go on first.
    fn wait();
}

/// An atomic word.
pub trait Word {
    /// A new one.
    fn new(value: u64) -> Self;
    /// Its value.
    fn load(&self, ordering: Ordering) -> u64;
    /// Another value.
    fn store(&self, value: u64, ordering: Ordering);
    /// Another value, if it has one that is known; so ordered then, and not at all otherwise.
    fn exchange(&self, known: u64, value: u64, ordering: Ordering) -> bool;
}

/// The machine.
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

/// Implements [`Word`] for an atomic word, whosever it is.
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

/// Every interleaving, and every value that memory may give.
#[cfg(any(test, feature = "model"))]
pub mod model {
    use loom::sync::atomic::AtomicU64 as Modelled;

    use super::{Ordering, Word, World};

    /// The model.
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

    /// Explores a scene in which threads lose their turn at up to so many of the worst places.
    pub fn explore(preemptions: usize, scene: impl Fn() + Send + Sync + 'static) {
        let mut model = loom::model::Builder::new();
        (model.preemption_bound, model.max_branches) = (Some(preemptions), 20_000);
        model.check(scene);
    }
}
