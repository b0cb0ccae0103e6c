//! Tile passes: workers process the tiles of a pass, one tile at a time each.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicBool, Ordering};

use vitric_base::counters::{self, Counter, Counters, TileCounters};
use vitric_base::object_pool::ObjectPool;
use vitric_base::workers::Workers;

use super::tile::count_hidden;
use super::{TilePass, TileScratch, process_tile};
use crate::raster::{Grid, within};
use crate::tiling::Window;

/// Counter values of a worker that show how a tile was processed.
#[derive(Debug, PartialEq, Eq)]
struct Progress {
    processed: u64,
    covered: u64,
}

impl Progress {
    fn new(counters: &TileCounters) -> Self {
        // A primitive may touch no block.
        let covered = [Counter::Groups, Counter::Blocks, Counter::BlocksConservative];
        let covered = covered.iter().map(|&counter| counters.get(counter)).sum();
        Self { processed: counters.get(Counter::TilesProcessed), covered }
    }
}

impl TilePass<'_> {
    /// Counts revisited and culled tiles, by comparison with the counters before the tile was
    /// processed.
    fn count_tile(&self, tile: usize, counters: &TileCounters, before: &Progress) {
        let now = Progress::new(counters);
        if now.processed == before.processed {
            return;
        }
        let again = self.processed.is_some_and(|processed| processed.mark(tile));
        counters.count(Counter::TilesReprocessed, again.into());
        counters.count(Counter::TilesCulled, (now.covered == before.covered).into());
    }
}

/// Marks the groups of parts of triangles that were hidden before they were put into the tiles of
/// a grid.
pub fn mark_early_kills(windows: &[Window], grid: &Grid, counters: &Counters) {
    let hidden = windows.iter().flat_map(|window| &window.hidden).map(|pixels| pixels.map(i64::from));
    let mut parts: Vec<(usize, [i64; 4])> = hidden
        .flat_map(|pixels| {
            let [first, last] = Grid::corners(pixels);
            let places =
                (first[1]..=last[1]).flat_map(move |row| (first[0]..=last[0]).map(move |column| [column, row]));
            places.map(move |place| {
                let tile = grid.number(place);
                (tile, within(pixels, grid.pixels(tile)))
            })
        })
        .collect();
    parts.sort_unstable();
    let tally = counters.begin_pass(grid.size()[0] as usize, grid.size()[1] as usize).tally();
    for parts in parts.chunk_by(|a, b| a.0 == b.0) {
        parts.iter().for_each(|&(_, pixels)| count_hidden(Some(&tally.counters), pixels));
        tally.end_tile(parts[0].0);
    }
}

/// Independent work that runs beside a pass: the number of chunks, and the function that runs one.
pub type Beside<'a> = (usize, &'a (dyn Fn(usize) + Sync));

/// Rasterizes windows after they were sorted into the tiles of the pass. Returns false if a
/// program was interrupted.
///
/// Threads without a tile run the chunks of `beside` work.
pub fn run_tile_pass(
    (workers, scratch): (&Workers, &ObjectPool<TileScratch>),
    pass: TilePass<'_>,
    (chunks, run_chunk): Beside<'_>,
) -> bool {
    let grid = pass.grid;
    if let Some(clears) = pass.clears.filter(|_| pass.clears_all && pass.windows.is_empty()) {
        clears.clear_all(workers, grid);
    }
    let mut tiles = match pass.clears {
        Some(clears) if pass.clears_all => {
            (0..grid.count_all()).filter(|&tile| pass.is_drawn_to(tile) || clears.needs_clear(tile)).collect()
        }
        _ => pass.parts.tiles(),
    };
    // Tiles with the most primitives come first, so that at the end no thread waits long for
    // another.
    tiles.sort_by_cached_key(|&tile| Reverse(pass.parts.count(tile)));
    let ok = AtomicBool::new(true);
    let counted = pass.counters.map(|counters| counters.begin_pass(grid.size()[0] as usize, grid.size()[1] as usize));
    if let Some(counters) = pass.counters {
        counters.count(Counter::Batches, u64::from(!pass.windows.is_empty()));
    }
    workers.parallel(
        chunks + tiles.len(),
        || (scratch.acquire(), counted.map(counters::PassCounters::tally)),
        |(scratch, tally), index| {
            let Some(tile) = index.checked_sub(chunks).map(|index| tiles[index]) else { return run_chunk(index) };
            let expired = pass.draws.first().is_some_and(|draw| draw.deadline.expired());
            let goes_on = ok.load(Ordering::Relaxed) && !expired;
            let counters = tally.as_ref().map(|tally| &tally.counters);
            let before = counters.map(Progress::new);
            let number = grid.place(tile).1;
            if !goes_on || !process_tile(&pass, tile, grid.pixels(number), scratch, counters) {
                ok.store(false, Ordering::Relaxed);
            }
            if let (Some(tally), Some(before)) = (tally, before) {
                pass.count_tile(tile, &tally.counters, &before);
                tally.end_tile(number);
            }
        },
    );
    ok.into_inner()
}
