//! Counters of the work that each unit did. They measure function, not time, and are optional.
//!
//! This module holds the only table of counters. A worker counts in a [`TileCounters`] of its own
//! while it participates in a tile pass. Its values are added to the shared counters when it
//! leaves the pass, and its maps after each tile. The GPU keeps maps of where work happened, one
//! set for each size of the render target in tiles. It also keeps samples of submissions, passes,
//! draws and dispatches. Source: DESIGN 3, the counters of each technique.

mod samples;

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::simd::kernel;

pub use samples::{FRONT, Sample, SampleKind, Sampler, Samples};

/// A counter's row in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Name in reports.
    pub name: &'static str,
    /// Unit of the GPU that counts.
    pub unit: &'static str,
    /// Description of the counted events.
    pub doc: &'static str,
}

macro_rules! counters {
    ($($counter:ident $name:literal $unit:literal $doc:literal)+) => {
        /// A counter, numbered by its row in [`TABLE`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Counter {
            $(#[doc = $doc] $counter),+
        }

        /// All counters, in the order of [`Counter`].
        pub const TABLE: &[Entry] = &[$(Entry { name: $name, unit: $unit, doc: $doc }),+];
    };
}

counters! {
    InputVertices "input_vertices" "assembly" "Vertices, or indices, of draws."
    InputPrimitives "input_primitives" "assembly" "Primitives assembled of them."
    Vertices "vertices" "geometry" "Vertices shaded."
    Reused "reused" "geometry" "Corners whose vertex was shaded for another corner."
    PoshPieces "posh_pieces" "posh" "Pieces of draws that went through the cull pipe."
    PoshScattered "posh_scattered" "posh" "Pieces left out because their vertices lie too far apart."
    PoshVertices "posh_vertices" "posh" "Vertices of which only positions were shaded, in the cull pipe."
    PoshVolumeKills "posh_volume_kills" "posh" "Primitives outside of the view volume, which the replay leaves out."
    PoshFacingKills "posh_facing_kills" "posh" "Primitives of culled facing, or without a sample, which the replay leaves out."
    PoshAheadDraws "posh_ahead_draws" "posh" "Draws that waited, so that the cull pipe could run ahead on later ones."
    PoshAheadPieces "posh_ahead_pieces" "posh" "Pieces of theirs whose bounds were found."
    PoshAheadBytes "posh_ahead_bytes" "posh" "Bytes of those bounds, and of what blocks they leave visible."
    PoshLessons "posh_lessons" "posh" "Primitives that taught the visibility structure ahead of earlier draws."
    PoshHiddenKills "posh_hidden_kills" "posh" "Primitives that other draws hide, which the replay leaves out."
    PoshLeftFew "posh_left_few" "posh" "Draws that did not wait: of few primitives."
    PoshLeftKind "posh_left_kind" "posh" "Those that did not: not of filled triangles, by a geometry program, or with side effects."
    PoshLeftDepth "posh_left_depth" "posh" "Those that did not: depths are biased, given by the fragment program, or extrapolated."
    PoshLeftOrder "posh_left_order" "posh" "Those that did not: what comes later may not hide them, or they not what came before."
    PoshLeftRest "posh_left_rest" "posh" "Those that did not: it was not worth while lately."
    MergedPlain "merged_plain" "geometry" "Waves of merged programs whose lanes emit all vertices of an invocation."
    MergedReplicated "merged_replicated" "geometry" "Those whose lanes emit one vertex each."
    MergedLanes "merged_lanes" "geometry" "Lanes of theirs that ran a geometry program."
    MergedBytes "merged_bytes" "geometry" "Bytes that they had for emitted vertices."
    Patches "patches" "geometry" "Patches that a control program ran for."
    EvaluatedVertices "evaluated_vertices" "geometry" "Vertices of subdivided patches, each evaluated once a patch."
    GeometryInvocations "geometry_invocations" "geometry" "Invocations of geometry programs, each counted once."
    GeometryPrimitives "geometry_primitives" "geometry" "Primitives that they emitted."
    TaskInvocations "task_invocations" "geometry" "Invocations of task programs."
    MeshInvocations "mesh_invocations" "geometry" "Invocations of mesh programs."
    MeshPrimitives "mesh_primitives" "geometry" "Primitives that they gave, culled ones included."
    ClipInputs "clip_inputs" "geometry" "Primitives that came to clipping."
    ClipOutputs "clip_outputs" "geometry" "Primitives that clipping left, before culling."
    Primitives "primitives" "geometry" "Primitives that were set up and left after culling."
    Windows "windows" "tiler" "Windows sorted into tiles."
    BinEntries "bin_entries" "tiler" "Primitives in tiles, each counted once a tile."
    TileVisits "tile_visits" "tiler" "Tiles worked on, each counted once a walk."
    TileRevisits "tile_revisits" "tiler" "Those of them that an earlier walk of the pass has worked on."
    TilesCulled "tiles_culled" "tiler" "Those of them where nothing was left to be covered: all primitives were hidden, or cut off."
    HizEarlyQueries "hiz_early_queries" "hiz" "Primitives tested before they were put in a tile, each counted once a tile."
    HizEarlyKills "hiz_early_kills" "hiz" "Those that were hidden, and not put there."
    HizTileQueries "hiz_tile_queries" "hiz" "Primitives tested against the bounds of a tile."
    HizTileKills "hiz_tile_kills" "hiz" "Those that it hid."
    HizGroupQueries "hiz_group_queries" "hiz" "Groups of 8x8 pixels of primitives tested against their bounds."
    HizGroupKills "hiz_group_kills" "hiz" "Those that were hidden."
    HizQuadQueries "hiz_quad_queries" "hiz" "Groups of primitives tested by quads of 2x2 pixels."
    HizBlockKills "hiz_block_kills" "hiz" "Blocks of 4x4 pixels of theirs that were hidden."
    HizQuadKills "hiz_quad_kills" "hiz" "Quads that were hidden and are not in such blocks."
    HizSmallQueries "hiz_small_queries" "hiz" "Small primitives tested against the bounds of the groups that they touch."
    HizSmallKills "hiz_small_kills" "hiz" "Those that all of them hid."
    HizSmallCuts "hiz_small_cuts" "hiz" "Those of which some groups were left out that hid them."
    TilesConservative "tiles_conservative" "raster" "Tiles evaluated by the conservative criterion: what lies in one tile is not."
    TilesTouched "tiles_touched" "raster" "Those of them that the primitive touched."
    TilesInner "tiles_inner" "raster" "Tiles evaluated by the inner criterion."
    TilesCovered "tiles_covered" "raster" "Those of them that the primitive covered wholly."
    GroupsConservative "groups_conservative" "raster" "Groups of 8x8 pixels evaluated by the conservative criterion."
    GroupsTouched "groups_touched" "raster" "Those of them that the primitive touched."
    GroupsInner "groups_inner" "raster" "Groups of 8x8 pixels evaluated by the inner criterion."
    GroupsCovered "groups_covered" "raster" "Those of them that the primitive covered wholly."
    PixelsConservative "pixels_conservative" "raster" "Pixels evaluated by the conservative criterion."
    PixelsTouched "pixels_touched" "raster" "Those of them that the primitive touched."
    PixelsInner "pixels_inner" "raster" "Pixels evaluated by the inner criterion."
    PixelsCovered "pixels_covered" "raster" "Those of them that the primitive covered wholly."
    SamplesStandard "samples_standard" "raster" "Samples evaluated by the standard criterion."
    SamplesCovered "samples_covered" "raster" "Those of them that the primitive covered."
    Groups "groups" "raster" "Parts of primitives in 8x8 pixels whose samples were found, by evaluation or because all are covered."
    Blocks "blocks" "raster" "Parts of small primitives in 4x4 pixels whose samples were evaluated."
    Covered "covered" "raster" "Samples covered and inside of what is drawn to, before tests."
    Fragments "fragments" "pixel" "Fragments that passed early tests: of pixels, or of samples where each is shaded."
    Dropped "dropped" "scoreboard" "Fragments that newer ones superseded before they were shaded."
    Waves "waves" "pixel" "Waves of fragments run."
    Lanes "lanes" "pixel" "Lanes of theirs that had a fragment."
    Exported "exported" "pixel" "Fragments that were exported after they were shaded."
    Discarded "discarded" "pixel" "Fragments that were shaded, of which programs or late tests left nothing to be exported."
    Invocations "invocations" "compute" "Invocations of compute programs."
    DecodedBytes "decoded_bytes" "decoded" "Bytes of texels that were decoded from blocks of compressed images, to be sampled."
    DecodedPeak "decoded_peak" "decoded" "Most bytes of such texels at a time."
    DecodedDropped "decoded_dropped" "decoded" "Images whose decoded texels were dropped: for others, for the heap, or because the image was idle."
    DecodedRefused "decoded_refused" "decoded" "Look-ups that sample blocks, because there was no room for decoded texels."
    SpansWoken "spans_woken" "near" "Spans of 64 KiB of images that a submission needed and that rested in near memory."
    SpansRested "spans_rested" "near" "Spans that went to rest."
    SpansVoid "spans_void" "near" "Those of them that are one line again and again, and take no near memory."
    SpansLost "spans_lost" "near" "Those of them whose contents were lost, by a store operation, a transition, or with the image: they were not read."
    RawColor "raw_color" "near" "Bytes of images of one sample whose components are integers that went to rest and were not lost, as they are."
    VoidColor "void_color" "near" "Those of them in spans that are one line again and again."
    TookColor "took_color" "near" "Bytes that the others took in near memory."
    RawHdr "raw_hdr" "near" "Bytes of images of one sample whose components are floating-point numbers that went to rest and were not lost, as they are."
    VoidHdr "void_hdr" "near" "Those of them in spans that are one line again and again."
    TookHdr "took_hdr" "near" "Bytes that the others took in near memory."
    RawSamples "raw_samples" "near" "Bytes of colour images of several samples that went to rest and were not lost, as they are."
    VoidSamples "void_samples" "near" "Those of them in spans that are one line again and again."
    TookSamples "took_samples" "near" "Bytes that the others took in near memory."
    RawDepth "raw_depth" "near" "Bytes of depth and stencil images that went to rest and were not lost, as they are."
    VoidDepth "void_depth" "near" "Those of them in spans that are one line again and again."
    TookDepth "took_depth" "near" "Bytes that the others took in near memory."
    SpansCleared "spans_cleared" "near" "Spans that were cleared as a whole, which was noted instead of written."
    SpansClaimed "spans_claimed" "near" "Spans at rest that were overwritten without being read."
    NearIn "near_in" "near" "Bytes written to near memory."
    NearOut "near_out" "near" "Bytes read from near memory."
    FarIn "far_in" "near" "Bytes written to far memory."
    FarOut "far_out" "near" "Bytes read from far memory."
    LinesRead "lines_read" "near" "Lines of images at rest that copies read, which woke nothing."
    LinesOne "lines_1" "near" "Lines coded in one sub-block."
    LinesTwo "lines_2" "near" "Lines coded in two sub-blocks."
    LinesThree "lines_3" "near" "Lines coded in three sub-blocks."
    LinesRaw "lines_raw" "near" "Lines kept as they are."
    GroupsCompacted "groups_compacted" "near" "Page groups that came to fewer pages than they take as they are."
    GroupsPacked "groups_packed" "near" "Page groups that the compaction daemon put in fewer pages."
    GroupsExpanded "groups_expanded" "near" "Page groups whose lines follow each other and came to take more pages."
    GroupsUnpacked "groups_unpacked" "near" "Page groups that the daemon had packed and a line did not fit in any more."
    PacksAbandoned "packs_abandoned" "near" "Page groups that changed while the daemon packed them."
    GroupsEvicted "groups_evicted" "near" "Page groups that went to far memory for others."
    GroupsCleared "groups_cleared" "near" "Page groups cleared by their control bits."
    GroupsDiscarded "groups_discarded" "near" "Page groups whose pages were freed because nothing of them is needed."
    PagesFree "pages_free" "near" "Fewest pages of near memory that were free at a time."
    PeakResting "peak_resting" "near" "Most bytes of images at rest at a time, as they are when they do not rest."
    PeakCompacted "peak_compacted" "near" "Most bytes of pages of near memory at a time."
    PeakCompressed "peak_compressed" "near" "Most bytes of coded lines at a time."
    PeakRaw "peak_raw" "near" "Most bytes that these lines stand for at a time."
}

/// Number of counters.
pub const COUNT: usize = TABLE.len();

/// Values of all counters, indexed by [`Counter`].
pub type Counts = [u64; COUNT];

/// A quantity that is counted for each group of 8x8 pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Map {
    /// Samples covered, before tests.
    Overdraw,
    /// Parts of primitives that Hi-Z found occluded.
    HizKills,
    /// Fragments that newer fragments superseded before they were shaded.
    Dropped,
    /// Waves of fragments run.
    Waves,
    /// Lanes with a fragment in these waves.
    Lanes,
}

/// All maps with their names in reports, in the order of [`Map`].
pub const MAPS: [(&str, Map); 5] = [
    ("overdraw", Map::Overdraw),
    ("hiz_kills", Map::HizKills),
    ("dropped", Map::Dropped),
    ("waves", Map::Waves),
    ("lanes", Map::Lanes),
];

/// Counters whose value is the sum of a map's groups. They are not counted separately.
const MARKED: [(Counter, Map); 4] = [
    (Counter::Covered, Map::Overdraw),
    (Counter::Dropped, Map::Dropped),
    (Counter::Waves, Map::Waves),
    (Counter::Lanes, Map::Lanes),
];

/// Groups along a side of a tile.
const SIDE: usize = 8;

/// Number of the counters in [`TileCounters`].
///
/// The counters of decoded texels and of near memory follow them in the table, and other code
/// counts these.
const OF_TILES: usize = Counter::DecodedBytes as usize;

/// Counters of one worker in a tile pass, with the maps of one tile.
#[derive(Debug)]
pub struct TileCounters {
    counts: [Cell<u64>; OF_TILES],
    maps: [[Cell<u32>; SIDE * SIDE]; MAPS.len()],
    /// Counts for each map that apply to every group of the tile, on top of `maps`.
    all: [Cell<u32>; MAPS.len()],
}

impl Default for TileCounters {
    fn default() -> Self {
        let maps = std::array::from_fn(|_| std::array::from_fn(|_| Cell::new(0)));
        Self { counts: std::array::from_fn(|_| Cell::new(0)), maps, all: std::array::from_fn(|_| Cell::new(0)) }
    }
}

impl TileCounters {
    /// Adds `many` to a counter. For the sum of a map, use [`Self::mark`] instead.
    #[inline]
    pub fn count(&self, counter: Counter, many: u64) {
        debug_assert!(MARKED.iter().all(|(marked, _)| *marked != counter), "{counter:?} would count twice");
        let value = &self.counts[counter as usize];
        value.set(value.get() + many);
    }

    /// Returns the current value of a counter.
    pub fn get(&self, counter: Counter) -> u64 {
        let map = MARKED.iter().find(|(marked, _)| *marked == counter);
        self.counts[counter as usize].get() + map.map_or(0, |(_, map)| self.sum(*map))
    }

    /// Returns the sum of a map over all groups of the tile.
    fn sum(&self, map: Map) -> u64 {
        let all = u64::from(self.all[map as usize].get()) * (SIDE * SIDE) as u64;
        self.maps[map as usize].iter().fold(all, |sum, seen| sum + u64::from(seen.get()))
    }

    /// Moves the counts of a map to `marks`, and returns their sum over all groups.
    fn take(&self, map: usize, marks: &mut Marks) -> u64 {
        let all = self.all[map].take();
        marks.all += all;
        take_groups(&self.maps[map], &mut marks.groups) + u64::from(all) * (SIDE * SIDE) as u64
    }

    /// Returns the number of the group that contains `pixel` in its tile, row by row.
    #[inline(always)]
    pub fn group([x, y]: [u32; 2]) -> u32 {
        (y / 8 % SIDE as u32) * SIDE as u32 + x / 8 % SIDE as u32
    }

    /// Adds `many` to the group that contains `pixel`.
    #[inline]
    pub fn mark(&self, map: Map, pixel: [u32; 2], many: u32) {
        self.mark_group(map, Self::group(pixel), many);
    }

    /// Adds `many` to the group of this number.
    #[inline(always)]
    pub fn mark_group(&self, map: Map, group: u32, many: u32) {
        let value = &self.maps[map as usize][group as usize % (SIDE * SIDE)];
        value.set(value.get() + many);
    }

    /// Adds `many` to each group in the rectangle between the groups of two pixels of one tile.
    #[inline]
    pub fn mark_all(&self, map: Map, [first, last]: [[u32; 2]; 2], many: u32) {
        let [[left, top], [right, bottom]] = [first, last].map(|place| place.map(|pixel| pixel as usize / 8 % SIDE));
        if [left, top, right, bottom] == [0, 0, SIDE - 1, SIDE - 1] {
            let value = &self.all[map as usize];
            return value.set(value.get() + many);
        }
        for row in self.maps[map as usize].chunks_exact(SIDE).take(bottom + 1).skip(top) {
            row[left..=right].iter().for_each(|value| value.set(value.get() + many));
        }
    }
}

/// Counts of one map in one tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Marks {
    groups: [u32; SIDE * SIDE],
    /// Count that applies to every group, on top of `groups`.
    all: u32,
}

impl Marks {
    const NONE: Self = Self { groups: [0; SIDE * SIDE], all: 0 };
}

#[inline(always)]
fn taken(seen: &[Cell<u32>; SIDE * SIDE], groups: &mut [u32; SIDE * SIDE]) -> u64 {
    let sum = seen.iter().fold(0, |sum, seen| sum + u64::from(seen.get()));
    // Most maps have no counts in most tiles.
    if sum != 0 {
        groups.iter_mut().zip(seen).for_each(|(value, seen)| *value += seen.take());
    }
    sum
}

kernel!(
    /// Adds the counts of `seen` to `groups`, clears them, and returns their sum.
    take_groups, taken, (seen: &[Cell<u32>; SIDE * SIDE], groups: &mut [u32; SIDE * SIDE]) -> u64
);

/// A set of maps of tile passes with equal numbers of tile columns and rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Maps {
    /// Groups in a row.
    pub columns: usize,
    /// Rows of groups.
    pub rows: usize,
    /// Counts by map, then by tile, row by row of tiles.
    ///
    /// The layout is by tile because workers add the counts of one tile at a time.
    values: [Vec<Marks>; MAPS.len()],
}

impl Maps {
    /// Returns maps of zeros for this many columns and rows of tiles.
    pub fn new(columns: usize, rows: usize) -> Self {
        let values = std::array::from_fn(|_| vec![Marks::NONE; columns * rows]);
        Self { columns: columns * SIDE, rows: rows * SIDE, values }
    }

    /// Returns the counts of a map for each group, row by row.
    pub fn of(&self, map: Map) -> Vec<u32> {
        let (across, tiles) = (self.columns / SIDE, &self.values[map as usize]);
        let places = (0..self.rows).flat_map(|y| (0..self.columns).map(move |x| [x, y]));
        let value = |[x, y]: [usize; 2]| {
            let Marks { groups, all } = &tiles[y / SIDE * across + x / SIDE];
            groups[y % SIDE * SIDE + x % SIDE] + all
        };
        places.map(value).collect()
    }
}

/// Most sets of maps that are kept.
const MAX_MAPS: usize = 64;

/// The counters, maps and samples of a GPU.
#[derive(Debug)]
pub struct Counters {
    values: [AtomicU64; COUNT],
    /// Sets of maps, which are only ever added. `None` if maps are not requested.
    maps: Option<Arc<Mutex<Vec<Maps>>>>,
    samples: Mutex<Samples>,
}

impl Default for Counters {
    fn default() -> Self {
        Self { maps: Some(Arc::default()), ..Self::without_maps() }
    }
}

impl Counters {
    /// Returns counters of zero without maps.
    pub fn without_maps() -> Self {
        let values = std::array::from_fn(|_| AtomicU64::new(0));
        Self { values, maps: None, samples: Mutex::default() }
    }

    /// Returns counters of zero for a part of the work, which share the maps of `self`.
    ///
    /// The caller passes them to [`Self::add`] when the part ends.
    pub fn of_part(&self) -> Self {
        Self { maps: self.maps.clone(), ..Self::without_maps() }
    }

    /// Adds `many` to a counter.
    pub fn count(&self, counter: Counter, many: u64) {
        self.values[counter as usize].fetch_add(many, Ordering::Relaxed);
    }

    /// Adds values to the counters with these numbers in the table.
    pub fn add_numbered(&self, values: impl IntoIterator<Item = (usize, u64)>) {
        // Most values are of units that had no work.
        for (number, value) in values.into_iter().filter(|(_, value)| *value > 0) {
            self.values[number].fetch_add(value, Ordering::Relaxed);
        }
    }

    /// Adds the values of other counters.
    pub fn add(&self, others: &Self) {
        self.add_numbered(others.values().into_iter().enumerate());
    }

    /// Returns the values of all counters.
    pub fn values(&self) -> Counts {
        std::array::from_fn(|counter| self.value(counter))
    }

    /// Returns the value of the counter with this number in the table.
    fn value(&self, counter: usize) -> u64 {
        self.values[counter].load(Ordering::Relaxed)
    }

    /// Returns the samples of all complete submissions.
    pub fn samples(&self) -> Samples {
        self.samples.lock().clone()
    }

    /// Returns the sets of maps.
    ///
    /// All passes with equal numbers of tile columns and rows share a set. Passes of further sizes
    /// have no maps once there are 64 sets.
    pub fn maps(&self) -> Vec<Maps> {
        self.maps.as_ref().map(|maps| maps.lock().clone()).unwrap_or_default()
    }

    /// Begins to count a pass over this many columns and rows of tiles.
    pub fn walk(&self, columns: usize, rows: usize) -> PassCounters<'_> {
        let set = self.maps.as_ref().and_then(|maps| {
            let mut sets = maps.lock();
            let known =
                sets.iter().position(|known| [known.columns, known.rows] == [columns, rows].map(|of| of * SIDE));
            let place = known.unwrap_or(sets.len());
            if place == sets.len() && place < MAX_MAPS {
                sets.push(Maps::new(columns, rows));
            }
            (place < sets.len()).then_some((&**maps, place))
        });
        PassCounters { counters: self, set }
    }
}

/// Counters of one tile pass.
#[derive(Debug, Clone, Copy)]
pub struct PassCounters<'a> {
    counters: &'a Counters,
    /// The sets of maps and the index of this pass's set. `None` if the pass has no maps.
    set: Option<(&'a Mutex<Vec<Maps>>, usize)>,
}

impl<'a> PassCounters<'a> {
    /// Returns counters for one worker of the pass.
    pub fn tally(self) -> Tally<'a> {
        Tally { walk: self, sight: TileCounters::default() }
    }
}

/// Counters of one worker in a tile pass. Its drop adds the values to the shared counters.
#[derive(Debug)]
pub struct Tally<'a> {
    walk: PassCounters<'a>,
    /// The worker's values and the maps of its current tile.
    pub sight: TileCounters,
}

impl Tally<'_> {
    /// Ends a tile: adds its maps to the pass's set, and their sums to the worker's values.
    pub fn end_tile(&self, tile: usize) {
        let (mut maps, mut nowhere) = (self.walk.set.map(|(sets, place)| (sets.lock(), place)), Marks::NONE);
        for number in 0..MAPS.len() {
            let marks = match &mut maps {
                Some((sets, place)) => &mut sets[*place].values[number][tile],
                None => &mut nowhere,
            };
            let sum = self.sight.take(number, marks);
            if let Some((counter, _)) = MARKED.iter().find(|(_, map)| *map as usize == number) {
                let counted = &self.sight.counts[*counter as usize];
                counted.set(counted.get() + sum);
            }
        }
    }
}

impl Drop for Tally<'_> {
    fn drop(&mut self) {
        self.walk.counters.add_numbered(self.sight.counts.iter().map(Cell::get).enumerate());
    }
}

/// Adds `many` to a counter if counters are requested.
#[inline]
pub fn count(sight: Option<&TileCounters>, counter: Counter, many: u64) {
    if let Some(sight) = sight {
        sight.count(counter, many);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_add_up() {
        let counters = Counters::default();
        let part = counters.of_part();
        let tally = part.walk(2, 2).tally();
        for tile in [1, 3] {
            tally.sight.count(Counter::Fragments, 3);
            tally.sight.mark(Map::Waves, [64 + 9, 63], 3);
            tally.end_tile(tile);
        }
        assert_eq!(part.values()[Counter::Waves as usize], 0, "it goes on");
        drop(tally);
        counters.add(&part);
        assert_eq!([Counter::Fragments, Counter::Waves].map(|of| counters.values()[of as usize]), [6, 6]);
        let maps = &counters.maps()[0];
        assert_eq!((maps.columns, maps.rows), (16, 16));
        let marked: Vec<usize> = (0..256).filter(|&group| maps.of(Map::Waves)[group] == 3).collect();
        assert_eq!(marked, [7 * 16 + 9, 15 * 16 + 9]);
        assert!(maps.of(Map::Lanes).iter().all(|&value| value == 0));
        counters.walk(2, 2);
        counters.walk(1, 2);
        assert_eq!(counters.maps().len(), 2);
    }

    #[test]
    fn groups_are_marked_together_as_one_by_one() {
        let counters = Counters::default();
        for (number, [[left, top], [right, bottom]]) in
            [[[0, 0], [56, 56]], [[8, 16], [40, 16]]].into_iter().enumerate()
        {
            let [together, apart] = [0, 1].map(|of| counters.walk(2 + number, 1 + of).tally());
            together.sight.mark_all(Map::Lanes, [[left, top], [right, bottom]], 5);
            for y in (top..=bottom).step_by(8) {
                (left..=right).step_by(8).for_each(|x| apart.sight.mark(Map::Lanes, [x, y], 5));
            }
            for tile in [0, 1] {
                // The second tile must not contain the counts of the first.
                together.end_tile(tile);
                apart.end_tile(tile);
            }
            let maps = counters.maps();
            let [together, apart] = [0, 1].map(|of| maps[number * 2 + of].of(Map::Lanes));
            assert_eq!(together, &apart[..together.len()]);
            assert_eq!(together.iter().sum::<u32>(), [64 * 5, 5 * 5][number]);
        }
    }

    #[test]
    fn the_table_is_complete() {
        assert_eq!(TABLE[Counter::Lanes as usize].name, "lanes");
        assert_eq!(COUNT, Counter::PeakRaw as usize + 1);
        assert!(MAPS.iter().enumerate().all(|(number, (_, map))| *map as usize == number));
    }
}
