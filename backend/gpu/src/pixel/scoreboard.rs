//! Scoreboard: finds the newest fragment of each pixel, so that hidden fragments are never shaded.
//!
//! The scoreboard queues groups of fragments that passed their depth tests, one entry a sample.
//! All entries come from draws of a tile that overwrite the same attachments and do not read them.
//! Before shading, a scan from the newest to the oldest entry drops each pixel that a newer entry
//! covers, and entries without pixels.
//!
//! The remaining entries export each pixel once, so their order does not matter. Draws whose order
//! matters do not use the scoreboard. Source: DESIGN 3.5. A mask of covered pixels replaces the
//! number of the newest fragment there.

use vitric_base::counters::{Map, TileCounters};
use vitric_base::simd::kernel;

use super::PrimitiveId;
use crate::raster::{GROUP_LOG2, TILE_LOG2};

/// Number of entries from which on hidden entries are removed.
const MAX_ENTRIES: usize = 1024;

/// Log2 of the groups along a tile's side.
const GROUPS_LOG2: u32 = TILE_LOG2 - GROUP_LOG2;

/// Groups of a tile.
const GROUPS: usize = 1 << (2 * GROUPS_LOG2);

/// One sample of a primitive's fragments in a group of 8x8 pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fragments {
    pub(super) primitive: PrimitiveId,
    /// First pixel of the group, x and y.
    pub(super) place: [u32; 2],
    /// Number of the sample.
    pub(super) sample: u32,
    /// Covered pixels, in the bit order of a group.
    pub(super) pixels: u64,
}

impl Fragments {
    /// Returns the number of the group in its tile. Each sample has a separate range of numbers.
    fn group(&self) -> usize {
        let [x, y] = self.place.map(|pixel| pixel as usize >> GROUP_LOG2 & ((1 << GROUPS_LOG2) - 1));
        self.sample as usize * GROUPS + (y << GROUPS_LOG2 | x)
    }
}

/// Scoreboard of a tile.
#[derive(Debug, Default)]
pub(super) struct Scoreboard {
    entries: Vec<Fragments>,
    /// Pixels of each group and sample that newer entries cover, during a scan.
    covered: Vec<u64>,
}

impl Scoreboard {
    /// Returns true if no entry is queued.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Appends fragments that are newer than all earlier ones. Returns true if the queued entries
    /// should be shaded.
    #[inline]
    pub(super) fn push(&mut self, fragments: Fragments, counters: Option<&TileCounters>) -> bool {
        self.entries.push(fragments);
        self.entries.len() >= MAX_ENTRIES && self.needs_shading(counters)
    }

    #[cold]
    fn needs_shading(&mut self, counters: Option<&TileCounters>) -> bool {
        self.drop_superseded(counters);
        self.entries.len() > MAX_ENTRIES / 2
    }

    /// Drops pixels that newer fragments cover, and entries without pixels.
    pub(super) fn drop_superseded(&mut self, counters: Option<&TileCounters>) {
        let samples = self.entries.iter().map(|fragments| fragments.sample + 1).max().unwrap_or(0);
        let covered = &mut self.covered;
        covered.clear();
        covered.resize(samples as usize * GROUPS, 0);
        supersede(&mut self.entries, covered, counters);
        self.entries.retain(|fragments| fragments.pixels != 0);
    }

    /// Returns the queued entries, oldest first.
    pub(super) fn entries(&self) -> &[Fragments] {
        &self.entries
    }

    /// Removes all entries.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }
}

/// Removes the pixels from entries that newer entries cover, and counts removed pixels. Entries
/// are ordered oldest first.
#[inline(always)]
fn supersede_groups(entries: &mut [Fragments], covered: &mut [u64], counters: Option<&TileCounters>) {
    for fragments in entries.iter_mut().rev() {
        let covered = &mut covered[fragments.group()];
        let seen = fragments.pixels;
        let dropped = seen & *covered;
        if dropped != 0
            && let Some(counters) = counters
        {
            counters.mark(Map::Dropped, fragments.place, dropped.count_ones());
        }
        fragments.pixels &= !*covered;
        *covered |= seen;
    }
}

kernel!(supersede, supersede_groups, (entries: &mut [Fragments], covered: &mut [u64], counters: Option<&TileCounters>));

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::raster::pixel_of_bit;

    proptest! {
        /// Compares with a sequential model: each pixel belongs to the last fragment that covers
        /// it.
        #[test]
        fn the_newest_fragment_of_each_pixel_is_left(
            groups in prop::collection::vec((0u32..8, 0u32..8, any::<u64>(), any::<u64>()), 1..300), tile in [0u32..3, 0u32..3],
        ) {
            let mut board = Scoreboard::default();
            let mut model = vec![u32::MAX; 64 * 64];
            let pixels_of = |fragments: Fragments| {
                (0..64).filter(move |bit| fragments.pixels >> bit & 1 != 0).map(move |bit| {
                    let [x, y] = pixel_of_bit(bit);
                    ((fragments.place[1] + y) % 64 * 64 + (fragments.place[0] + x) % 64) as usize
                })
            };
            for (primitive, &(x, y, some, others)) in (0..).zip(&groups) {
                let place = [tile[0] * 64 + x * 8, tile[1] * 64 + y * 8];
                let fragments = Fragments { primitive, place, sample: 0, pixels: some & others | 1 };
                prop_assert!(!board.push(fragments, None));
                pixels_of(fragments).for_each(|pixel| model[pixel] = primitive);
            }
            let mut left = vec![u32::MAX; 64 * 64];
            let mut last = None;
            board.drop_superseded(None);
            board.entries().iter().for_each(|&fragments| {
                assert!(last.replace(fragments.primitive) < Some(fragments.primitive), "the order is kept");
                pixels_of(fragments).for_each(|pixel| {
                    assert_eq!(std::mem::replace(&mut left[pixel], fragments.primitive), u32::MAX, "each pixel once");
                });
            });
            prop_assert_eq!(left, model);
            board.clear();
            prop_assert!(board.is_empty());
        }
    }

    #[test]
    fn samples_are_superseded_one_by_one() {
        let mut board = Scoreboard::default();
        let fragments = |primitive, sample, pixels| Fragments { primitive, place: [8, 16], sample, pixels };
        for (primitive, sample, pixels) in [(0, 0, 0b11), (0, 3, 0b11), (1, 3, 0b10), (2, 15, 0b1)] {
            board.push(fragments(primitive, sample, pixels), None);
        }
        board.drop_superseded(None);
        assert_eq!(board.entries()[1], fragments(0, 3, 0b01));
        assert_eq!(board.entries().len(), 4);
    }

    #[test]
    fn a_full_board_forgets_what_is_superseded() {
        let mut board = Scoreboard::default();
        for primitive in 0..100 {
            for group in 0..64 {
                let place = [group % 8 * 8, group / 8 * 8];
                assert!(!board.push(Fragments { primitive, place, sample: 0, pixels: u64::MAX }, None));
                assert!(board.entries.len() < MAX_ENTRIES);
            }
        }
        board.drop_superseded(None);
        let left: Vec<_> = board.entries().iter().map(|fragments| fragments.primitive).collect();
        assert_eq!(left, [99; 64]);
    }

    #[test]
    fn a_board_of_small_fragments_asks_to_be_shaded() {
        let mut board = Scoreboard::default();
        let fragment =
            |bit: u32| Fragments { primitive: bit, place: [bit / 64 * 8, 0], sample: 0, pixels: 1 << (bit % 64) };
        assert_eq!((0..600).position(|bit| board.push(fragment(bit % 512), None)), None);
        let other = |bit: u32| Fragments { place: [bit / 64 * 8, 8], ..fragment(bit) };
        assert!((0..512).any(|bit| board.push(other(bit), None)));
    }
}
