//! What near memory counts.
//!
//! One table, as of all units (`counters.rs`): a name, and what it says. Values are sums since the memory was made, or most of a time.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! stats {
    ($($variant:ident $name:literal $what:literal;)+) => {
        /// A number that near memory keeps.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[expect(missing_docs, reason = "the table says what they are")]
        pub enum Stat {
            $($variant,)+
        }

        /// Names, and what they say.
        pub const TABLE: &[(&str, &str)] = &[$(($name, $what),)+];
    };
}

stats! {
    NearIn "near_in" "Bytes written to near memory.";
    NearOut "near_out" "Bytes read from near memory.";
    FarIn "far_in" "Bytes written to far memory.";
    FarOut "far_out" "Bytes read from far memory.";
    LinesOne "lines_1" "Lines coded in one sub-block.";
    LinesTwo "lines_2" "Lines coded in two sub-blocks.";
    LinesThree "lines_3" "Lines coded in three sub-blocks.";
    LinesRaw "lines_raw" "Lines kept as they are.";
    Compacted "groups_compacted" "Page groups that the compaction buffer put in fewer pages.";
    Packed "groups_packed" "Page groups that the compaction daemon put in fewer pages.";
    Expanded "groups_expanded" "Page groups whose lines follow each other and came to take more pages.";
    Unpacked "groups_unpacked" "Page groups that the daemon had packed and a line did not fit in any more.";
    Abandoned "packs_abandoned" "Page groups that changed while the daemon packed them.";
    Evicted "groups_evicted" "Page groups that went to far memory for others.";
    Cleared "groups_cleared" "Page groups cleared by their control bits.";
    Discarded "groups_discarded" "Page groups whose pages were freed because nothing of them is needed.";
    PeakCompacted "peak_compacted" "Most bytes of pages at a time.";
    PeakCompressed "peak_compressed" "Most bytes of coded lines at a time.";
    PeakRaw "peak_raw" "Most bytes of all lines at a time.";
}

/// The values.
#[derive(Debug)]
pub struct Stats([AtomicU64; TABLE.len()]);

impl Default for Stats {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl Stats {
    /// Counts something.
    pub fn count(&self, stat: Stat, many: usize) {
        self.0[stat as usize].fetch_add(many as u64, Ordering::Relaxed);
    }

    /// Notes a value, of which the greatest is kept.
    pub fn peak(&self, stat: Stat, value: usize) {
        // What is mostly no news is not written.
        if self.get(stat) < value as u64 {
            self.0[stat as usize].fetch_max(value as u64, Ordering::Relaxed);
        }
    }

    /// A value.
    pub fn get(&self, stat: Stat) -> u64 {
        self.0[stat as usize].load(Ordering::Relaxed)
    }
}
