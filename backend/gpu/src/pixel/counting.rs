//! Counting of waves and of their fragments.

use vitric_base::counters::{Counter, Map, TileCounters};

/// Counts waves and the lanes of those waves that have a fragment.
pub(super) fn see(sight: &TileCounters, place: [u32; 2], waves: u32, lanes: u32) {
    sight.mark(Map::Waves, place, waves);
    sight.mark(Map::Lanes, place, lanes);
}

/// Counts exported and discarded fragments among those that were shaded.
pub(super) fn see_exported(sight: &TileCounters, shaded: u32, exported: u32) {
    sight.count(Counter::Exported, exported.into());
    if shaded != exported {
        sight.count(Counter::Discarded, (shaded - exported).into());
    }
}
