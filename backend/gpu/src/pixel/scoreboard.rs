//! Scoreboard: finds the newest fragment of each pixel, so that hidden fragments are never shaded.
//!
//! The scoreboard queues groups of fragments that passed their depth tests, one entry a sample.
//! All entries come from draws of a tile that overwrite the same attachments and do not read them.
//! Before shading, a scan from the newest to the oldest entry drops each pixel that a newer entry
//! covers, and entries without pixels.
//!
//! The remaining entries export each pixel once, so their order does not matter. Draws whose order
//! matters do not use the scoreboard. Before a primitive of such a draw is drawn, the entries of
//! the groups that it touches are shaded. Source: DESIGN 3.5. A mask of covered pixels replaces the
//! number of the newest fragment there.

use vitric_base::counters::{Map, TileCounters};
use vitric_base::simd::kernel;

use super::{PrimitiveId, TileView};
use crate::hiz::GroupRect;
use crate::raster::{GROUP_LOG2, TILE_LOG2, group_of_block};

/// Number of entries from which on hidden entries are removed.
const MAX_ENTRIES: usize = 2048;

/// Log2 of the groups along a tile's side.
const GROUPS_LOG2: u32 = TILE_LOG2 - GROUP_LOG2;

/// Groups of a tile.
const GROUPS: usize = 1 << (2 * GROUPS_LOG2);

/// Groups of a tile, one bit each, row by row.
pub(super) type TileGroups = u64;

/// Returns the groups of a tile that a window `[x0, y0, x1, y1]` of its pixels touches.
#[inline]
pub(super) fn touched_groups(window @ [x0, y0, x1, y1]: [i64; 4]) -> TileGroups {
    if x0 < x1 && y0 < y1 { GroupRect::of(window).mask() } else { 0 }
}

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

/// Queued [`Fragments`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    pixels: u64,
    primitive: PrimitiveId,
    /// Number of the group in the tile.
    group: u16,
    sample: u8,
    /// True if each sample is a fragment.
    by_sample: bool,
}

impl Entry {
    /// Returns the number of the group and sample in the tile. Each sample has a separate range of
    /// numbers.
    #[inline]
    fn group_of_sample(&self) -> usize {
        usize::from(self.sample) * GROUPS + usize::from(self.group)
    }
}

/// Scoreboard of a tile.
#[derive(Debug, Default)]
pub(super) struct Scoreboard {
    entries: Vec<Entry>,
    /// First pixel of the tile.
    tile: [u32; 2],
    /// True if each sample of the fragments to come is a fragment.
    by_sample: bool,
    /// Groups that have entries.
    groups: TileGroups,
    /// Entries to be shaded, and the fragments that remain of them.
    removed: Vec<Entry>,
    newest: Vec<Fragments>,
    /// Pixels of each group and sample that newer entries cover, during a scan.
    covered: Vec<u64>,
}

impl Scoreboard {
    /// Returns true if no entry is queued.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Removes all entries, which an interrupted program has left.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.groups = 0;
    }

    /// Prepares for fragments of a draw. They are fragments each if the draw shades each sample
    /// (`by_sample`). Otherwise the samples of a pixel are one fragment.
    pub(super) fn begin_draw(&mut self, by_sample: bool) {
        self.by_sample = by_sample;
    }

    /// Returns the groups that have entries, among those that a window of the tile touches.
    #[inline]
    pub(super) fn overlap(&self, window: [i64; 4]) -> TileGroups {
        if self.groups == 0 { 0 } else { self.groups & touched_groups(window) }
    }

    /// Returns true if the queued entries should be shaded before more are appended.
    #[inline]
    pub(super) fn is_full(&mut self, view: &TileView<'_>) -> bool {
        self.entries.len() >= MAX_ENTRIES && self.needs_shading(view)
    }

    /// Appends fragments that are newer than all earlier ones.
    #[inline]
    pub(super) fn push(&mut self, fragments: Fragments) {
        let Fragments { primitive, place, sample, pixels } = fragments;
        if self.entries.is_empty() {
            self.tile = place.map(|pixel| pixel >> TILE_LOG2 << TILE_LOG2);
        }
        let group = TileCounters::group(place) as u16;
        self.groups |= 1 << group;
        self.entries.push(Entry { pixels, primitive, group, sample: sample as u8, by_sample: self.by_sample });
    }

    /// Appends pixels of a primitive in a 4x4 block, in the order of a wave's lanes. They are newer
    /// than all earlier fragments.
    #[inline]
    pub(super) fn push_block(&mut self, primitive: PrimitiveId, (block, pixels): ([i64; 2], u16)) {
        let (place, pixels) = group_of_block(block.map(|pixel| pixel as u32), pixels);
        let group = TileCounters::group(place) as u16;
        match self.entries.last_mut() {
            Some(last) if (last.primitive, last.group) == (primitive, group) => last.pixels |= pixels,
            _ => self.push(Fragments { primitive, place, sample: 0, pixels }),
        }
    }

    #[cold]
    fn needs_shading(&mut self, view: &TileView<'_>) -> bool {
        drop_superseded(&mut self.entries, &mut self.covered, view);
        self.entries.len() > MAX_ENTRIES / 2
    }

    /// Removes the entries of some groups. Returns those pixels of them that no newer fragments
    /// cover, oldest first.
    pub(super) fn remove(&mut self, groups: TileGroups, view: &TileView<'_>) -> &[Fragments] {
        self.removed.clear();
        if self.groups & !groups == 0 {
            std::mem::swap(&mut self.entries, &mut self.removed);
        } else {
            self.removed.extend(self.entries.extract_if(.., |entry| groups >> entry.group & 1 != 0));
        }
        self.groups &= !groups;
        drop_superseded(&mut self.removed, &mut self.covered, view);
        let [left, top] = self.tile;
        let newest = self.removed.iter().map(|&Entry { pixels, primitive, group, sample, .. }| {
            let [x, y] =
                [group & ((1 << GROUPS_LOG2) - 1), group >> GROUPS_LOG2].map(|group| u32::from(group) << GROUP_LOG2);
            Fragments { primitive, place: [left + x, top + y], sample: sample.into(), pixels }
        });
        self.newest.clear();
        self.newest.extend(newest);
        &self.newest
    }
}

/// Drops pixels that newer fragments cover, and entries without pixels. Entries are ordered oldest
/// first.
///
/// `covered` is reusable memory.
fn drop_superseded(entries: &mut Vec<Entry>, covered: &mut Vec<u64>, view: &TileView<'_>) {
    let samples = entries.iter().map(|entry| usize::from(entry.sample) + 1).max().unwrap_or(0);
    covered.clear();
    covered.resize(samples * GROUPS, 0);
    if samples > 1 {
        supersede_samples(entries, covered, view);
    } else {
        supersede(entries, covered, view);
    }
    entries.retain(|entry| entry.pixels != 0);
}

/// Counts dropped fragments of an entry.
fn count_dropped(view: &TileView<'_>, Entry { primitive, group, .. }: &Entry, dropped: u32) {
    if let Some(counters) = view.counters.filter(|_| dropped != 0) {
        counters.mark_group(Map::Dropped, (*group).into(), dropped);
        if let Some(sample) = view.sample_of(*primitive) {
            counters.assign_dropped(sample, dropped.into());
        }
    }
}

/// Removes the pixels from entries of one sample that newer entries cover, and counts removed
/// pixels. Entries are ordered oldest first.
#[inline(always)]
fn supersede_groups(entries: &mut [Entry], covered: &mut [u64], view: &TileView<'_>) {
    for entry in entries.iter_mut().rev() {
        let covered = &mut covered[usize::from(entry.group)];
        let seen = entry.pixels;
        count_dropped(view, entry, (seen & *covered).count_ones());
        entry.pixels &= !*covered;
        *covered |= seen;
    }
}

kernel!(supersede, supersede_groups, (entries: &mut [Entry], covered: &mut [u64], view: &TileView<'_>));

/// Removes the samples from entries that newer entries cover, and counts removed fragments. Entries
/// are ordered oldest first.
fn supersede_samples(entries: &mut [Entry], covered: &mut [u64], view: &TileView<'_>) {
    let of_group = |a: &Entry, b: &Entry| (a.primitive, a.group) == (b.primitive, b.group);
    for samples in entries.chunk_by_mut(of_group).rev() {
        // No sample of a pixel is in two of these entries.
        let (mut seen, mut left, mut dropped) = (0, 0, 0);
        for entry in &mut *samples {
            let covered = &mut covered[entry.group_of_sample()];
            let pixels = entry.pixels;
            entry.pixels &= !*covered;
            *covered |= pixels;
            (seen, left) = (seen | pixels, left | entry.pixels);
            dropped += (pixels ^ entry.pixels).count_ones();
        }
        let first = &samples[0];
        count_dropped(view, first, if first.by_sample { dropped } else { (seen & !left).count_ones() });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use vitric_base::counters::Counter;

    use super::*;
    use crate::raster::pixel_of_bit;

    const ALL: TileGroups = TileGroups::MAX;

    /// Step of a tile: fragments of a primitive arrive, or a window needs its fragments shaded.
    #[derive(Debug, Clone, Copy)]
    enum Step {
        Group([u32; 2], u64),
        Block([u32; 2], u16),
        Shade([i64; 4]),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let group = (0u32..8, 0u32..8, any::<u64>(), any::<u64>())
            .prop_map(|(x, y, some, others)| Step::Group([x * 8, y * 8], some & others | 1));
        let block = (0u32..16, 0u32..16, 1u16..).prop_map(|(x, y, pixels)| Step::Block([x * 4, y * 4], pixels));
        let window = (0i64..64, 0i64..64, 1i64..24, 1i64..24)
            .prop_map(|(x, y, width, height)| Step::Shade([x, y, (x + width).min(64), (y + height).min(64)]));
        prop::collection::vec(prop_oneof![4 => group, 4 => block, 1 => window], 1..400)
    }

    /// Tile that stores the last primitive of each pixel.
    struct Texels(Vec<PrimitiveId>);

    impl Texels {
        fn new() -> Self {
            Self(vec![PrimitiveId::MAX; 64 * 64])
        }

        /// Writes fragments, and returns their number.
        fn write(&mut self, Fragments { primitive, place, pixels, .. }: Fragments) -> u32 {
            for bit in (0..64).filter(|bit| pixels >> bit & 1 != 0) {
                let [x, y] = pixel_of_bit(bit);
                self.0[((place[1] + y) % 64 * 64 + (place[0] + x) % 64) as usize] = primitive;
            }
            pixels.count_ones()
        }
    }

    proptest! {
        /// Compares with a sequential model, where each fragment is written at once: whenever a
        /// window was shaded, its pixels belong to the last fragments that cover them. Every
        /// fragment is either written or counted as dropped.
        #[test]
        fn the_newest_fragment_of_each_pixel_is_left(steps in steps(), tile in [0u32..3, 0u32..3]) {
            let (counters, mut board) = (&TileCounters::default(), Scoreboard::default());
            let view = &TileView { counters: Some(counters), ..TileView::NONE };
            let (mut model, mut written) = (Texels::new(), Texels::new());
            let (mut arrived, mut exported) = (0, 0);
            let mut shade = |board: &mut Scoreboard, written: &mut Texels, groups: TileGroups| {
                let mut seen = Texels::new();
                let removed = board.remove(groups, view);
                assert!(removed.is_sorted_by_key(|fragments| fragments.primitive), "the order is kept");
                for &fragments in removed {
                    let before = seen.0.iter().filter(|&&id| id != PrimitiveId::MAX).count() as u32;
                    let many = seen.write(fragments);
                    let after = seen.0.iter().filter(|&&id| id != PrimitiveId::MAX).count() as u32;
                    assert_eq!(after, before + many, "each pixel once");
                    exported += written.write(fragments);
                }
            };
            for (primitive, step) in (0..).zip(steps) {
                if board.is_full(view) {
                    shade(&mut board, &mut written, ALL);
                }
                let origin = tile.map(|number| number * 64);
                let at = |[x, y]: [u32; 2]| [origin[0] + x, origin[1] + y];
                match step {
                    Step::Group(place, pixels) => {
                        let fragments = Fragments { primitive, place: at(place), sample: 0, pixels };
                        board.push(fragments);
                        arrived += model.write(fragments);
                    }
                    Step::Block(block, lanes) => {
                        board.push_block(primitive, (at(block).map(i64::from), lanes));
                        for lane in (0..16u32).filter(|lane| lanes >> lane & 1 != 0) {
                            let [x, y] = [lane & 1 | lane >> 1 & 2, lane >> 1 & 1 | lane >> 2 & 2];
                            model.0[((block[1] + y) * 64 + block[0] + x) as usize] = primitive;
                        }
                        arrived += lanes.count_ones();
                    }
                    Step::Shade(window @ [x0, y0, x1, y1]) => {
                        let [x, y] = origin.map(i64::from);
                        let groups = board.overlap([x0 + x, y0 + y, x1 + x, y1 + y]);
                        prop_assert_eq!(groups & !touched_groups(window), 0);
                        shade(&mut board, &mut written, groups);
                        prop_assert_eq!(board.overlap(window), 0);
                        for y in y0..y1 {
                            let row = (y * 64 + x0) as usize..(y * 64 + x1) as usize;
                            prop_assert_eq!(&written.0[row.clone()], &model.0[row]);
                        }
                    }
                }
            }
            shade(&mut board, &mut written, ALL);
            prop_assert!(board.is_empty() && board.groups == 0);
            prop_assert_eq!(written.0, model.0);
            prop_assert_eq!(u64::from(arrived), u64::from(exported) + counters.get(Counter::Dropped));
        }

        #[test]
        fn windows_touch_the_groups_of_their_pixels(x in 0i64..64, y in 0i64..64, width in 0i64..65, height in 0i64..65) {
            let window = [x, y, (x + width).min(64), (y + height).min(64)];
            let group = |[x, y]: [i64; 2]| 1u64 << (y / 8 * 8 + x / 8);
            let pixels = (window[1]..window[3]).flat_map(|y| (window[0]..window[2]).map(move |x| [x, y]));
            prop_assert_eq!(touched_groups(window), pixels.fold(0, |groups, pixel| groups | group(pixel)));
        }
    }

    /// A primitive covers a group, a second one half of it, and a third one a quarter of that half.
    #[test]
    fn superseded_fragments_are_counted_once() {
        let (counters, mut board) = (&TileCounters::default(), Scoreboard::default());
        let view = &TileView { counters: Some(counters), ..TileView::NONE };
        let halves = [u64::MAX, u64::MAX >> 32, u64::MAX >> 48];
        for (primitive, pixels) in (0..).zip(halves) {
            board.push(Fragments { primitive, place: [8, 16], sample: 0, pixels });
        }
        // The fourth primitive covers another group, which stays queued.
        board.push(Fragments { primitive: 3, place: [16, 16], sample: 0, pixels: 7 });
        let left: Vec<_> = board.remove(board.overlap([8, 16, 9, 17]), view).iter().map(|left| left.pixels).collect();
        assert_eq!(left, [0xffff_ffff_0000_0000, 0xffff_0000, 0xffff]);
        assert_eq!(counters.get(Counter::Dropped), 32 + 16);
        assert_eq!(board.remove(ALL, view), [Fragments { primitive: 3, place: [16, 16], sample: 0, pixels: 7 }]);
        assert_eq!(counters.get(Counter::Dropped), 32 + 16);
    }

    /// Two primitives cover 64 pixels with four samples. The second one covers all samples of 32
    /// pixels, and three samples of the others.
    #[test]
    fn fragments_of_several_samples_are_dropped_with_their_last_sample() {
        for (by_sample, dropped) in [(false, 32), (true, 32 * 4 + 32 * 3)] {
            let (counters, mut board) = (&TileCounters::default(), Scoreboard::default());
            let view = &TileView { counters: Some(counters), ..TileView::NONE };
            board.begin_draw(by_sample);
            for (primitive, last) in [(0, u64::MAX), (1, u64::MAX >> 32)] {
                for (sample, pixels) in (0..).zip([u64::MAX, u64::MAX, u64::MAX, last]) {
                    board.push(Fragments { primitive, place: [8, 16], sample, pixels });
                }
            }
            assert_eq!(board.remove(ALL, view).len(), 5);
            assert_eq!(counters.get(Counter::Dropped), dropped);
        }
    }

    #[test]
    fn blocks_of_a_primitive_share_an_entry_in_a_group() {
        let mut board = Scoreboard::default();
        board.push_block(5, ([8, 16], u16::MAX));
        board.push_block(5, ([12, 20], 1));
        board.push_block(6, ([12, 20], 1 << 15));
        let of = |primitive, pixels| Fragments { primitive, place: [8, 16], sample: 0, pixels };
        assert_eq!(board.remove(ALL, &TileView::NONE), [of(5, 0x0100_00ff_00ff), of(6, 1 << 63)]);
    }

    #[test]
    fn samples_are_superseded_one_by_one() {
        let mut board = Scoreboard::default();
        let fragments = |primitive, sample, pixels| Fragments { primitive, place: [8, 16], sample, pixels };
        for (primitive, sample, pixels) in [(0, 0, 0b11), (0, 3, 0b11), (1, 3, 0b10), (2, 15, 0b1)] {
            board.push(fragments(primitive, sample, pixels));
        }
        let left = board.remove(ALL, &TileView::NONE);
        assert_eq!(left[1], fragments(0, 3, 0b01));
        assert_eq!(left.len(), 4);
    }

    #[test]
    fn a_full_board_forgets_what_is_superseded() {
        let mut board = Scoreboard::default();
        for primitive in 0..100 {
            for group in 0..64 {
                let place = [group % 8 * 8, group / 8 * 8];
                assert!(!board.is_full(&TileView::NONE));
                board.push(Fragments { primitive, place, sample: 0, pixels: u64::MAX });
                assert!(board.entries.len() <= MAX_ENTRIES);
            }
        }
        let left: Vec<_> = board.remove(ALL, &TileView::NONE).iter().map(|fragments| fragments.primitive).collect();
        assert_eq!(left, [99; 64]);
    }

    #[test]
    fn a_board_of_small_fragments_asks_to_be_shaded() {
        let mut board = Scoreboard::default();
        let fragment = |bit: u32| Fragments {
            primitive: bit,
            place: [bit / 64 % 8 * 8, bit / 512 * 8],
            sample: 0,
            pixels: 1 << (bit % 64),
        };
        let half = MAX_ENTRIES as u32 / 2;
        let mut fills = |bit: u32| {
            board.push(fragment(bit));
            board.is_full(&TileView::NONE)
        };
        assert!(!(0..half + 88).any(|bit| fills(bit % half)));
        assert!((half..2 * half).any(fills));
    }
}
