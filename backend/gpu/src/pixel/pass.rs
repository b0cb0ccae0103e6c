//! Tile passes: workers process the tiles of a pass, one tile at a time each.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicBool, Ordering};

use vitric_base::counters::{self, Counter, TileCounters};
use vitric_base::object_pool::ObjectPool;
use vitric_base::workers::Workers;

use super::{TilePass, TileScratch, process_tile};
use crate::tiling::Tests;

/// Counter values of a worker that show how a tile was processed.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    visits: u64,
    covered: u64,
}

impl Seen {
    fn new(sight: &TileCounters) -> Self {
        let covered = sight.get(Counter::Groups) + sight.get(Counter::Blocks);
        Self { visits: sight.get(Counter::TileVisits), covered }
    }
}

impl TilePass<'_> {
    /// Counts revisited and culled tiles, by comparison with the counters before the tile was
    /// processed.
    fn count_tile(&self, tile: usize, sight: &TileCounters, before: &Seen) {
        let now = Seen::new(sight);
        if now.visits == before.visits {
            return;
        }
        let again = self.visited.get(tile).is_some_and(|visited| visited.swap(true, Ordering::Relaxed));
        sight.count(Counter::TileRevisits, again.into());
        sight.count(Counter::TilesCulled, (now.covered == before.covered).into());
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
    walk: TilePass<'_>,
    (pieces, piece): Beside<'_>,
) -> bool {
    let grid = walk.grid;
    if let Some(clears) = walk.clears.filter(|clears| clears.all && walk.windows.is_empty()) {
        clears.clear_all(workers, grid);
    }
    let mut tiles = match walk.clears {
        Some(clears) if clears.all => {
            (0..grid.count_all()).filter(|&tile| walk.is_drawn_to(tile) || clears.wants(tile)).collect()
        }
        _ => walk.parts.tiles(),
    };
    // Tiles with the most primitives come first, so that at the end no thread waits long for
    // another.
    tiles.sort_by_cached_key(|&tile| Reverse(walk.parts.count(tile)));
    let ok = AtomicBool::new(true);
    let counted = walk.counters.map(|counters| counters.walk(grid.size()[0] as usize, grid.size()[1] as usize));
    if let Some(counters) = walk.counters {
        counters.count(Counter::Windows, walk.windows.len() as u64);
        let tests = |count: fn(&Tests) -> u32| walk.windows.iter().map(|window| u64::from(count(&window.tests))).sum();
        counters.count(Counter::TilesConservative, tests(|tests| tests.evaluated));
        counters.count(Counter::TilesTouched, tests(|tests| tests.touched));
        counters.count(Counter::HizEarlyQueries, tests(|tests| tests.queries));
        counters.count(Counter::HizEarlyKills, tests(|tests| tests.kills));
        counters.count(Counter::Primitives, walk.windows.iter().map(|window| window.triangles.len() as u64).sum());
    }
    workers.parallel(
        pieces + tiles.len(),
        || (scratch.acquire(), counted.map(counters::PassCounters::tally)),
        |(scratch, tally), index| {
            let Some(tile) = index.checked_sub(pieces).map(|index| tiles[index]) else { return piece(index) };
            let expired = walk.draws.first().is_some_and(|draw| draw.deadline.expired());
            let goes_on = ok.load(Ordering::Relaxed) && !expired;
            let sight = tally.as_ref().map(|tally| &tally.sight);
            let before = sight.map(Seen::new);
            let number = grid.place(tile).1;
            if !goes_on || !process_tile(&walk, tile, grid.pixels(number), scratch, sight) {
                ok.store(false, Ordering::Relaxed);
            }
            if let (Some(tally), Some(before)) = (tally, before) {
                walk.count_tile(tile, &tally.sight, &before);
                tally.end_tile(number);
            }
        },
    );
    ok.into_inner()
}
