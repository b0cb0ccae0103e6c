//! What near memory counts: the last counters of the one table (`counters.rs`).
//!
//! Values are sums since the memory was made, or most of a time.

use std::sync::atomic::{AtomicU64, Ordering};

use vitric_base::counters::COUNT;
pub use vitric_base::counters::Counter as Stat;

/// The first of the counters that this unit keeps itself.
const FIRST: usize = Stat::SpansRested as usize;

/// The values.
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

    /// Counts something.
    pub fn count(&self, stat: Stat, many: usize) {
        self.value(stat).fetch_add(many as u64, Ordering::Relaxed);
    }

    /// Notes a value, of which the greatest is kept.
    pub fn peak(&self, stat: Stat, value: usize) {
        // What is mostly no news is not written.
        if self.get(stat) < value as u64 {
            self.value(stat).fetch_max(value as u64, Ordering::Relaxed);
        }
    }

    /// A value.
    pub fn get(&self, stat: Stat) -> u64 {
        self.value(stat).load(Ordering::Relaxed)
    }

    /// Numbers in the table of counters, and values.
    pub fn all(&self) -> impl Iterator<Item = (usize, u64)> {
        (FIRST..).zip(self.0.iter().map(|value| value.load(Ordering::Relaxed)))
    }
}
