//! Counters of the work that each unit did. They measure function, not time, and are optional.
//!
//! This module holds the only table of counters. A worker counts in a [`TileCounters`] of its own
//! while it participates in a tile pass. Its values are added to the shared counters when it
//! leaves the pass, and its maps after each tile. The GPU keeps maps of where work happened, one
//! set for each size of the render target in tiles. It also keeps samples of submissions, passes,
//! draws and dispatches. Source: DESIGN 3, the counters of each technique.

mod samples;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::simd::kernel;

pub use samples::{Sample, SampleKind, Sampler, Samples};

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
    InputPrimitives "input_primitives" "assembly" "Primitives assembled from the vertices of draws."
    Vertices "vertices" "geometry" "Vertices shaded."
    Reused "reused" "geometry" "Corners whose vertex was shaded for another corner."
    PoshChunks "posh_chunks" "posh" "Chunks of draws that went through the cull pipe."
    PoshScattered "posh_scattered" "posh" "Chunks that bypassed the cull pipe because their vertex indices lie too far apart."
    PoshVertices "posh_vertices" "posh" "Vertices of which the cull pipe shaded the position."
    PoshVolumeKills "posh_volume_kills" "posh" "Primitives that the cull pipe rejected as outside of the view volume."
    PoshFacingKills "posh_facing_kills" "posh" "Primitives that the cull pipe rejected by their facing, or because they cover no sample."
    PoshDeferredDraws "posh_deferred_draws" "posh" "Draws that were deferred, so that the cull pipe could look ahead."
    PoshLookaheadChunks "posh_lookahead_chunks" "posh" "Chunks of deferred draws in the look-ahead, of at most 4,096 primitives each."
    PoshLookaheadBytes "posh_lookahead_bytes" "posh" "Bytes of the bits and bounds of primitives, blocks and chunks, and of the Hi-Z updates in the look-ahead."
    PoshLookaheads "posh_lookaheads" "posh" "Runs of the look-ahead over deferred draws."
    PoshLookaheadsInVain "posh_lookaheads_in_vain" "posh" "Runs of the look-ahead in which too few primitives were hidden, so that deferral pauses."
    PoshHizUpdates "posh_hiz_updates" "posh" "Primitives that updated Hi-Z in the look-ahead."
    PoshHiddenKills "posh_hidden_kills" "posh" "Primitives of deferred draws that were omitted because Hi-Z bounds hid them: bounds of stored depths and of primitives of deferred draws."
    PoshScissorKills "posh_scissor_kills" "posh" "Primitives of deferred draws that were omitted because they lay outside of the scissor or the render area."
    PoshNotDeferredFew "posh_not_deferred_few" "posh" "Draws that were not deferred: too few primitives."
    PoshNotDeferredKind "posh_not_deferred_kind" "posh" "Draws that were not deferred: no filled triangles, tessellation, a geometry program, side effects, reads of attachments, several viewports, or too many primitives."
    PoshNotDeferredOrder "posh_not_deferred_order" "posh" "Draws that were not deferred: later draws may not hide their primitives, because of a query, the depth or stencil state, or the attachments."
    PoshNotDeferredPaused "posh_not_deferred_paused" "posh" "Draws that were not deferred: deferral has not paid lately."
    MergedOff "merged_off" "geometry" "Waves of geometry programs that ran as a stage of their own, because merging is off."
    MergedPlain "merged_plain" "geometry" "Waves of merged programs whose lanes emit all vertices of an invocation."
    MergedReplicated "merged_replicated" "geometry" "Waves of merged programs whose lanes emit one vertex each."
    MergedLanes "merged_lanes" "geometry" "Lanes that ran a geometry program."
    MergedBytes "merged_bytes" "geometry" "Bytes reserved for the emitted vertices of waves of geometry programs."
    Patches "patches" "geometry" "Patches that a control program ran for."
    EvaluatedVertices "evaluated_vertices" "geometry" "Vertices of subdivided patches, counted once per patch."
    GeometryInvocations "geometry_invocations" "geometry" "Invocations of geometry programs, each counted once."
    GeometryPrimitives "geometry_primitives" "geometry" "Primitives that geometry programs emitted."
    TaskInvocations "task_invocations" "geometry" "Invocations of task programs."
    MeshInvocations "mesh_invocations" "geometry" "Invocations of mesh programs."
    MeshPrimitives "mesh_primitives" "geometry" "Primitives that mesh programs output, including culled ones."
    ClipInputs "clip_inputs" "geometry" "Primitives before clipping."
    ClipOutputs "clip_outputs" "geometry" "Primitives after clipping, before culling."
    Primitives "primitives" "geometry" "Primitives that remained after culling."
    Windows "windows" "tiler" "Windows sorted into tiles."
    Batches "batches" "tiler" "Batches of windows whose tiles were processed together."
    BinEntries "bin_entries" "tiler" "Primitives in tiles, counted once per tile."
    TilesProcessed "tiles_processed" "tiler" "Tiles with primitives that were processed, counted once per tile pass."
    TilesReprocessed "tiles_reprocessed" "tiler" "Processed tiles that an earlier tile pass of the render pass had processed."
    TilesCulled "tiles_culled" "tiler" "Processed tiles in which no primitive was rasterized, because all were hidden or clipped."
    AttachmentBytesLoaded "attachment_bytes_loaded" "tiler" "Bytes of attachments that a tile memory would load for processed tiles, except planes that are cleared or overwritten."
    AttachmentBytesStored "attachment_bytes_stored" "tiler" "Bytes of written attachments that a tile memory would store after each processed tile."
    RenderLinesLoaded "render_lines_loaded" "tiler" "Lines of 256 bytes that a render cache of one tile would load, for groups with covered samples."
    RenderLinesStored "render_lines_stored" "tiler" "Lines of 256 bytes that a render cache of one tile would store, for groups with covered samples."
    HizEarlyBlockQueries "hiz_early_block_queries" "hiz" "Blocks of up to sixteen primitives tested as a whole before they were put into tiles."
    HizEarlyBlockKills "hiz_early_block_kills" "hiz" "Blocks that early tests hid as a whole."
    HizEarlyQueries "hiz_early_queries" "hiz" "Primitives tested before they were put into a tile, counted once per tile. Those of hidden blocks count for each tile that their bounds touch."
    HizEarlyKills "hiz_early_kills" "hiz" "Primitives that early tests kept out of a tile. Those of hidden blocks count for each tile that their bounds touch."
    HizEarlyGroupKills "hiz_early_group_kills" "hiz" "Groups of tiles in which early tests hid primitives that other groups of the tile may show."
    HizRebuiltTiles "hiz_rebuilt_tiles" "hiz" "Tiles whose unknown bounds were read from the stored depths."
    HizTileQueries "hiz_tile_queries" "hiz" "Primitives tested against the bounds of a tile."
    HizTileKills "hiz_tile_kills" "hiz" "Primitives that the bounds of a tile hid."
    HizGroupQueries "hiz_group_queries" "hiz" "Tests of a primitive in a group of 8x8 pixels against the bounds of the group."
    HizGroupKills "hiz_group_kills" "hiz" "Groups in which the bounds hid a primitive."
    HizQuadQueries "hiz_quad_queries" "hiz" "Tests of the 2x2 quads of a primitive in a group."
    HizBlockKills "hiz_block_kills" "hiz" "Blocks of 4x4 pixels in which a primitive was hidden."
    HizQuadKills "hiz_quad_kills" "hiz" "Hidden quads that are not part of a hidden block."
    HizSmallQueries "hiz_small_queries" "hiz" "Small primitives tested against the bounds of the groups that they touch."
    HizSmallKills "hiz_small_kills" "hiz" "Small primitives that all of their groups hid."
    HizSmallCuts "hiz_small_cuts" "hiz" "Small primitives of which some groups were omitted because they hid the primitive."
    TilesConservative "tiles_conservative" "raster" "Tiles evaluated by the conservative criterion. Primitives within one tile need no evaluation."
    TilesTouched "tiles_touched" "raster" "Tiles that the primitive touched, by the conservative criterion."
    TilesInner "tiles_inner" "raster" "Tiles evaluated by the inner criterion."
    TilesCovered "tiles_covered" "raster" "Tiles that the primitive covered completely, by the inner criterion."
    GroupsConservative "groups_conservative" "raster" "Groups of 8x8 pixels evaluated by the conservative criterion."
    GroupsTouched "groups_touched" "raster" "Groups that the primitive touched, by the conservative criterion."
    GroupsInner "groups_inner" "raster" "Groups of 8x8 pixels evaluated by the inner criterion."
    GroupsCovered "groups_covered" "raster" "Groups that the primitive covered completely, by the inner criterion."
    BlocksConservative "blocks_conservative" "raster" "Blocks of 4x4 pixels of small primitives evaluated by the conservative criterion, for their samples."
    BlocksTouched "blocks_touched" "raster" "Blocks of which the primitive may cover samples, by the conservative criterion."
    PixelsConservative "pixels_conservative" "raster" "Pixels evaluated by the conservative criterion."
    PixelsTouched "pixels_touched" "raster" "Pixels that the primitive touched, by the conservative criterion."
    PixelsInner "pixels_inner" "raster" "Pixels evaluated by the inner criterion."
    PixelsCovered "pixels_covered" "raster" "Pixels that the primitive covered completely, by the inner criterion."
    SamplesStandard "samples_standard" "raster" "Samples evaluated by the standard criterion."
    SamplesCovered "samples_covered" "raster" "Samples that the primitive covered, by the standard criterion."
    Groups "groups" "raster" "Groups of 8x8 pixels in which the coverage of a primitive was determined."
    Blocks "blocks" "raster" "Blocks of 4x4 pixels in which the coverage of a small primitive was determined."
    Covered "covered" "raster" "Covered samples inside of the render area and scissor, before tests."
    Fragments "fragments" "pixel" "Fragments that passed early tests, by samples if each sample is shaded. Fragments of several pixels count when they are shaded."
    Dropped "dropped" "scoreboard" "Fragments that newer fragments superseded before they were shaded. Fragments of several pixels count by pixels."
    Waves "waves" "pixel" "Waves of fragments that ran."
    Lanes "lanes" "pixel" "Lanes with a fragment in these waves."
    Exported "exported" "pixel" "Fragments that were exported."
    Discarded "discarded" "pixel" "Fragments that were shaded but not exported, because of discard or late tests."
    Invocations "invocations" "compute" "Invocations of compute programs."
    Workgroups "workgroups" "compute" "Workgroups of compute programs."
    DecodedBytes "decoded_bytes" "decoded" "Bytes of texels that were decoded from blocks of compressed images, to be sampled."
    DecodedPeak "decoded_peak" "decoded" "Most bytes of decoded texels at a time."
    DecodedDropped "decoded_dropped" "decoded" "Images whose decoded texels were dropped: for other images, for the heap, or because the image was idle."
    DecodedRefused "decoded_refused" "decoded" "Uses of images that sample blocks, because there was no room for decoded texels."
    SpansRestored "spans_restored" "near" "Compacted spans (64 KiB of an image) that a submission made resident."
    SpansCompacted "spans_compacted" "near" "Idle spans that were compacted because memory was short."
    SpansUniform "spans_uniform" "near" "Compacted spans of one repeated line, which take no near memory."
    SpansLost "spans_lost" "near" "Compacted spans that were not read, because a store operation, a transition or the destruction of the image lost their contents."
    RawColor "raw_color" "near" "Uncoded bytes of compacted single-sampled images with integer or normalized components, without lost ones."
    UniformColor "uniform_color" "near" "Bytes of `raw_color` in spans of one repeated line."
    CodedColor "coded_color" "near" "Bytes of near memory that the other spans of `raw_color` take."
    RawHdr "raw_hdr" "near" "Uncoded bytes of compacted single-sampled images with floating-point components, without lost ones."
    UniformHdr "uniform_hdr" "near" "Bytes of `raw_hdr` in spans of one repeated line."
    CodedHdr "coded_hdr" "near" "Bytes of near memory that the other spans of `raw_hdr` take."
    RawSamples "raw_samples" "near" "Uncoded bytes of compacted multisampled colour images, without lost ones."
    UniformSamples "uniform_samples" "near" "Bytes of `raw_samples` in spans of one repeated line."
    CodedSamples "coded_samples" "near" "Bytes of near memory that the other spans of `raw_samples` take."
    RawDepth "raw_depth" "near" "Uncoded bytes of compacted depth and stencil images, without lost ones."
    UniformDepth "uniform_depth" "near" "Bytes of `raw_depth` in spans of one repeated line."
    CodedDepth "coded_depth" "near" "Bytes of near memory that the other spans of `raw_depth` take."
    SpansCleared "spans_cleared" "near" "Spans that were cleared wholly, where the clear was noted instead of written."
    SpansOverwritten "spans_overwritten" "near" "Compacted spans that were overwritten without being decoded."
    NearIn "near_in" "near" "Bytes written to near memory."
    NearOut "near_out" "near" "Bytes read from near memory."
    FarIn "far_in" "near" "Bytes written to far memory."
    FarOut "far_out" "near" "Bytes read from far memory."
    LinesRead "lines_read" "near" "Lines of compacted spans that copies read without making the span resident."
    LinesWritten "lines_written" "near" "Writes of copies to lines of compacted spans, at most a line each, that did not make the span resident."
    LinesOne "lines_1" "near" "Lines coded in one sub-block."
    LinesTwo "lines_2" "near" "Lines coded in two sub-blocks."
    LinesThree "lines_3" "near" "Lines coded in three sub-blocks."
    LinesRaw "lines_raw" "near" "Lines stored uncoded."
    GroupsCompacted "groups_compacted" "near" "Page groups that the compaction buffer stored in fewer than four pages."
    GroupsPacked "groups_packed" "near" "Page groups that the compaction daemon stored in fewer than four pages."
    GroupsExpanded "groups_expanded" "near" "Contiguous page groups that needed more pages after a write."
    GroupsUnpacked "groups_unpacked" "near" "Packed page groups that a written line no longer fitted."
    PacksAbandoned "packs_abandoned" "near" "Page groups that were in use again before the daemon had packed them."
    GroupsEvicted "groups_evicted" "near" "Page groups that moved to far memory to free their pages."
    GroupsCleared "groups_cleared" "near" "Page groups (2 KiB) whose clear was noted in control bits instead of written."
    GroupsDiscarded "groups_discarded" "near" "Page groups with lines in near or far memory whose contents were discarded, which freed their pages."
    PagesFree "pages_free" "near" "Fewest free pages of near memory at a time."
    PeakCompactedImages "peak_compacted_images" "near" "Most uncoded bytes of compacted spans at a time."
    PeakCompacted "peak_compacted" "near" "Most bytes of allocated pages of near memory at a time."
    PeakCompressed "peak_compressed" "near" "Most bytes of coded lines at a time."
    PeakRaw "peak_raw" "near" "Most uncoded bytes of page groups with coded lines at a time."
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

/// Counters that tile passes assign to draws: fragments, and what was dropped at each level.
pub const OF_DRAWS: [Counter; 9] = [
    Counter::BinEntries,
    Counter::HizEarlyKills,
    Counter::HizTileKills,
    Counter::HizGroupKills,
    Counter::HizBlockKills,
    Counter::HizQuadKills,
    Counter::HizSmallKills,
    Counter::Fragments,
    Counter::Dropped,
];
const EARLY_KILLS: usize = 1;
const DROPPED: usize = 8;
const _: () = assert!(matches!(OF_DRAWS[EARLY_KILLS], Counter::HizEarlyKills));
const _: () = assert!(matches!(OF_DRAWS[DROPPED], Counter::Dropped));

/// Number of a draw's sample in its submission. Number 0 is the submission's sample.
pub type DrawSample = NonZeroU32;

/// Counts of [`OF_DRAWS`] for each draw.
type DrawCounts = BTreeMap<DrawSample, [u64; OF_DRAWS.len()]>;

/// Counters of one worker in a tile pass, with the maps of one tile.
#[derive(Debug)]
pub struct TileCounters {
    counts: [Cell<u64>; OF_TILES],
    /// The draw that counts belong to.
    draw: Cell<Option<DrawSample>>,
    /// Values of [`OF_DRAWS`] when the draw began.
    before: [Cell<u64>; OF_DRAWS.len()],
    draws: RefCell<DrawCounts>,
    maps: [[Cell<u32>; SIDE * SIDE]; MAPS.len()],
    /// Counts for each map that apply to every group of the tile, on top of `maps`.
    all: [Cell<u32>; MAPS.len()],
}

impl Default for TileCounters {
    fn default() -> Self {
        let maps = std::array::from_fn(|_| std::array::from_fn(|_| Cell::new(0)));
        Self {
            counts: std::array::from_fn(|_| Cell::new(0)),
            draw: Cell::new(None),
            before: std::array::from_fn(|_| Cell::new(0)),
            draws: RefCell::default(),
            maps,
            all: std::array::from_fn(|_| Cell::new(0)),
        }
    }
}

impl TileCounters {
    /// Returns the draw that counts belong to.
    pub fn draw(&self) -> Option<DrawSample> {
        self.draw.get()
    }

    /// Assigns the counts from now on to a draw, or to none.
    pub fn begin_draw(&self, draw: Option<DrawSample>) {
        let before = self.draw.replace(draw);
        let now = OF_DRAWS.map(|counter| self.counts[counter as usize].get());
        let mut grown: [u64; OF_DRAWS.len()] = std::array::from_fn(|of| now[of] - self.before[of].replace(now[of]));
        // The draw that drops fragments is not the one whose fragments are dropped.
        grown[DROPPED] = 0;
        if let Some(before) = before.filter(|_| grown.iter().any(|count| *count > 0)) {
            add_counts(self.draws.borrow_mut().entry(before).or_default(), &grown);
        }
    }

    /// Assigns dropped fragments, which the map [`Map::Dropped`] counts, to their draw.
    pub fn assign_dropped(&self, draw: DrawSample, many: u64) {
        self.draws.borrow_mut().entry(draw).or_default()[DROPPED] += many;
    }

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

    /// Returns the number of groups of the tile with a count in a map.
    pub fn marked_groups(&self, map: Map) -> u32 {
        let groups = self.maps[map as usize].iter().filter(|seen| seen.get() > 0).count();
        if self.all[map as usize].get() > 0 { (SIDE * SIDE) as u32 } else { groups as u32 }
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

fn add_counts(counts: &mut [u64; OF_DRAWS.len()], more: &[u64; OF_DRAWS.len()]) {
    counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
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
    /// Counts of tile passes for the draws of a submission.
    draws: Mutex<DrawCounts>,
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
        Self { values, maps: None, samples: Mutex::default(), draws: Mutex::default() }
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

    /// Adds the values of other counters, which count a part of the same submission.
    pub fn add(&self, others: &Self) {
        self.add_numbered(others.values().into_iter().enumerate());
        self.add_draws(std::mem::take(&mut others.draws.lock()));
    }

    /// Assigns primitives that early Hi-Z tests dropped to a draw.
    pub fn assign_early_kills(&self, draw: DrawSample, many: u64) {
        self.draws.lock().entry(draw).or_default()[EARLY_KILLS] += many;
    }

    fn add_draws(&self, others: DrawCounts) {
        if !others.is_empty() {
            let mut draws = self.draws.lock();
            others.iter().for_each(|(draw, counts)| add_counts(draws.entry(*draw).or_default(), counts));
        }
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
    pub fn begin_pass(&self, columns: usize, rows: usize) -> PassCounters<'_> {
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
        Tally { pass: self, counters: TileCounters::default() }
    }
}

/// Counters of one worker in a tile pass. Its drop adds the values to the shared counters.
#[derive(Debug)]
pub struct Tally<'a> {
    pass: PassCounters<'a>,
    /// The worker's values and the maps of its current tile.
    pub counters: TileCounters,
}

impl Tally<'_> {
    /// Ends a tile: adds its maps to the pass's set, and their sums to the worker's values.
    pub fn end_tile(&self, tile: usize) {
        let (mut maps, mut nowhere) = (self.pass.set.map(|(sets, place)| (sets.lock(), place)), Marks::NONE);
        for number in 0..MAPS.len() {
            let marks = match &mut maps {
                Some((sets, place)) => &mut sets[*place].values[number][tile],
                None => &mut nowhere,
            };
            let sum = self.counters.take(number, marks);
            if let Some((counter, _)) = MARKED.iter().find(|(_, map)| *map as usize == number) {
                let counted = &self.counters.counts[*counter as usize];
                counted.set(counted.get() + sum);
            }
        }
    }
}

impl Drop for Tally<'_> {
    fn drop(&mut self) {
        self.counters.begin_draw(None);
        self.pass.counters.add_numbered(self.counters.counts.iter().map(Cell::get).enumerate());
        self.pass.counters.add_draws(self.counters.draws.take());
    }
}

/// Adds `many` to a counter if counters are requested.
#[inline]
pub fn count(counters: Option<&TileCounters>, counter: Counter, many: u64) {
    if let Some(counters) = counters {
        counters.count(counter, many);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_add_up() {
        let counters = Counters::default();
        let part = counters.of_part();
        let tally = part.begin_pass(2, 2).tally();
        for tile in [1, 3] {
            tally.counters.count(Counter::Fragments, 3);
            tally.counters.mark(Map::Waves, [64 + 9, 63], 3);
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
        counters.begin_pass(2, 2);
        counters.begin_pass(1, 2);
        assert_eq!(counters.maps().len(), 2);
    }

    #[test]
    fn groups_are_marked_together_as_one_by_one() {
        let counters = Counters::default();
        for (number, [[left, top], [right, bottom]]) in
            [[[0, 0], [56, 56]], [[8, 16], [40, 16]]].into_iter().enumerate()
        {
            let [together, apart] = [0, 1].map(|of| counters.begin_pass(2 + number, 1 + of).tally());
            together.counters.mark_all(Map::Lanes, [[left, top], [right, bottom]], 5);
            for y in (top..=bottom).step_by(8) {
                (left..=right).step_by(8).for_each(|x| apart.counters.mark(Map::Lanes, [x, y], 5));
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
