//! Counting of waves and of their fragments.

use vitric_base::counters::{Counter, Map, TileCounters};

/// Counts waves and the lanes of those waves that have a fragment.
pub(super) fn count_waves(counters: &TileCounters, place: [u32; 2], waves: u32, lanes: u32) {
    counters.mark(Map::Waves, place, waves);
    counters.mark(Map::Lanes, place, lanes);
}

/// Counts exported and discarded fragments among those that were shaded.
pub(super) fn count_exported(counters: &TileCounters, shaded: u32, exported: u32) {
    counters.count(Counter::Exported, exported.into());
    if shaded != exported {
        counters.count(Counter::Discarded, (shaded - exported).into());
    }
}
