//! Statistics of near memory: the last counters of the counter table (`counters.rs`).
//!
//! A value is a sum since the memory was created, or the peak of a quantity.

use std::sync::atomic::{AtomicU64, Ordering};

use vitric_base::counters::COUNT;
pub use vitric_base::counters::Counter as Stat;

/// First of the counters that this crate stores.
const FIRST: usize = Stat::SpansCompacted as usize;

/// Values of the counters.
#[derive(Debug)]
pub struct Stats([AtomicU64; COUNT - FIRST]);

impl Default for Stats {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl Stats {
    fn value(&self, stat: Stat) -> &AtomicU64 {
        &self.0[stat as usize - FIRST]
    }

    /// Adds `many` to a counter.
    pub fn count(&self, stat: Stat, many: usize) {
        self.value(stat).fetch_add(many as u64, Ordering::Relaxed);
    }

    /// Raises a counter to at least `value`.
    pub fn peak(&self, stat: Stat, value: usize) {
        // Most values are below the peak, so a plain load avoids most writes.
        if self.get(stat) < value as u64 {
            self.value(stat).fetch_max(value as u64, Ordering::Relaxed);
        }
    }

    /// Returns the value of a counter.
    pub fn get(&self, stat: Stat) -> u64 {
        self.value(stat).load(Ordering::Relaxed)
    }

    /// Returns the indices of the counters in the counter table, with their values.
    pub fn all(&self) -> impl Iterator<Item = (usize, u64)> {
        (FIRST..).zip(self.0.iter().map(|value| value.load(Ordering::Relaxed)))
    }
}
