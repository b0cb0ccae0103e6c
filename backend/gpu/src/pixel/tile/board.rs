//! Shading of the fragments that are queued on a tile's scoreboard.

use vitric_base::counters::{Counter, TileCounters, count};
use vitric_base::simd::{Lanes, WAVE, highest_bits, kernel, ones};
use vitric_exec::interp::Wave;

use super::MIN_SPECIALIZED;
use crate::geometry::Varies;
use crate::pixel::direct::{MixedRunner, MixedScratch};
use crate::pixel::kernel::SmallPrimitivePath;
use crate::pixel::pixel_queue::PixelQueue;
use crate::pixel::scoreboard::{Fragments, Scoreboard, TileGroups};
use crate::pixel::wave::{WaveScratch, Waves};
use crate::pixel::{DrawContext, PrimitiveId, PrimitiveRun, SMALL_PIXELS, SMALL_SIDE, TileView};
use crate::raster::{Shape, TILE_LOG2};
use crate::tiling::DrawId;

/// Returns true if fragments of at least two primitives of a tile may be queued on a scoreboard.
/// Otherwise no fragment supersedes another one there, and shading without a scoreboard costs less.
pub(super) fn may_supersede(view: &TileView<'_>) -> bool {
    let mut queued = 0;
    view.primitive_runs().any(|primitive_run| {
        let context = &view.draws[primitive_run.draw];
        if context.overwrites.is_some() && context.shades() {
            let are_small_direct = context.traits().small == Some(SmallPrimitivePath::OneKernel) && !context.cuts;
            queued += if are_small_direct { large_of(&primitive_run) } else { primitive_run.primitives.len() as u32 };
        }
        queued > 1
    })
}

/// Returns the number of primitives that are not small.
fn large_of(PrimitiveRun { bin: (bin, _), primitives, .. }: &PrimitiveRun<'_>) -> u32 {
    let wave = WAVE as u32;
    let blocks = (primitives.start / wave * wave..primitives.end).step_by(WAVE);
    let of_block = |first: u32| {
        let words = bin.primitives.block(first).first_chunk().expect("every primitive has these words");
        let start = primitives.start.max(first) - first;
        let end = (primitives.end - first).min(wave);
        (large(words) & ((1 << end) - (1 << start))).count_ones()
    };
    blocks.map(of_block).sum()
}

#[inline(always)]
fn large_lanes(words: &[Lanes; Shape::WORDS]) -> u32 {
    let mut large = [0; WAVE];
    for (lane, large) in large.iter_mut().enumerate() {
        let word = |word: u32| words[(Shape::PIXELS + word) as usize][lane] as i32;
        let (width, height) = (word(2) - word(0), word(3) - word(1));
        let is_long = width.max(height) > SMALL_SIDE as i32;
        *large = ones(is_long | (width.wrapping_mul(height) > SMALL_PIXELS as i32));
    }
    highest_bits(&large).into()
}

kernel!(
    /// Returns the lanes of sixteen primitives that are not small.
    large, large_lanes, (words: &[Lanes; Shape::WORDS]) -> u32
);

/// Reusable memory of a worker for shading the fragments on a scoreboard.
#[derive(Default)]
pub(super) struct BoardScratch {
    waves: WaveScratch,
    mixed: Wave,
    pixel_queue: PixelQueue,
}

/// Scoreboard of a tile, and the memory to shade its fragments.
#[derive(Default)]
pub(super) struct TileBoard {
    queued: Scoreboard,
    scratch: BoardScratch,
    /// Locations that the queued fragments overwrite.
    overwrites: u32,
}

impl TileBoard {
    /// Prepares for the fragments of a tile.
    pub(super) fn begin_tile(&mut self) {
        self.queued.clear();
    }

    /// Prepares for the fragments of a draw that overwrites some locations, by shading fragments
    /// that overwrite others. Returns false if a program was interrupted.
    pub(super) fn begin(&mut self, view: &TileView<'_>, context: &DrawContext<'_>, overwrites: u32) -> bool {
        let ok = self.overwrites == overwrites || self.shade_all(view);
        self.overwrites = overwrites;
        self.queued.begin_draw(context.shades_samples());
        ok
    }

    /// Shades all queued fragments if there are many. The samples of a group are queued without a
    /// call between them, so that the fragments of a pixel are shaded together. Returns false if a
    /// program was interrupted.
    #[inline]
    pub(super) fn make_room(&mut self, view: &TileView<'_>) -> bool {
        !self.queued.is_full(view) || self.shade_all(view)
    }

    /// Queues fragments that are newer than all others.
    #[inline]
    pub(super) fn push(&mut self, fragments: Fragments) {
        self.queued.push(fragments);
    }

    /// Queues tested pixels of a 4x4 block, in the order of a wave's lanes, and counts them.
    /// Returns false if a program was interrupted.
    #[inline]
    pub(super) fn push_block(&mut self, view: &TileView<'_>, id: PrimitiveId, block: ([i64; 2], u16)) -> bool {
        count(view.counters, Counter::Fragments, block.1.count_ones().into());
        let ok = self.make_room(view);
        self.queued.push_block(id, block);
        ok
    }

    /// Drops all queued fragments, because newer ones cover the whole tile. With counters, the next
    /// scan drops and counts them.
    pub(super) fn supersede_all(&mut self, view: &TileView<'_>) {
        if view.counters.is_none() {
            self.queued.clear();
        }
    }

    /// Returns the groups with queued fragments that a window of the tile touches.
    #[inline]
    pub(super) fn overlap(&self, window: [i64; 4]) -> TileGroups {
        self.queued.overlap(window)
    }

    /// Shades all queued fragments. Returns false if a program was interrupted.
    pub(super) fn shade_all(&mut self, view: &TileView<'_>) -> bool {
        self.queued.is_empty() || self.shade(view, TileGroups::MAX)
    }

    /// Shades the fragments in some groups. Returns false if a program was interrupted.
    #[inline(never)]
    pub(super) fn shade(&mut self, view: &TileView<'_>, groups: TileGroups) -> bool {
        let mut ok = true;
        let current = view.counters.map(TileCounters::draw);
        let fragments = self.queued.remove(groups, view);
        for of_draw in fragments.chunk_by(|a, b| view.id_of(a.primitive) == view.id_of(b.primitive)) {
            let DrawId { state, sample } = view.id_of(of_draw[0].primitive);
            let context = &view.draws[state as usize];
            let _working = context.enter(false);
            view.counters.iter().for_each(|counters| counters.begin_draw(sample));
            ok &= shade_draw((context, view), of_draw, &mut self.scratch);
        }
        view.counters.iter().zip(current).for_each(|(counters, current)| counters.begin_draw(current));
        ok
    }
}

/// Shades the newest fragments of one draw. Returns false if a program was interrupted.
fn shade_draw<'a>(
    (context, view): (&'a DrawContext<'a>, &'a TileView<'a>),
    fragments: &[Fragments],
    BoardScratch { waves, mixed, pixel_queue }: &mut BoardScratch,
) -> bool {
    let mut waves = Waves::new(context, view, waves);
    let is_sieved = context.traits().small == Some(SmallPrimitivePath::Sieved) && context.has_whole_blocks(view.area);
    if is_sieved {
        let scratch = MixedScratch { wave: mixed, pixel_queue, counted: true };
        let tile = [view.area[0], view.area[1]].map(|pixel| pixel >> TILE_LOG2 << TILE_LOG2);
        let varies = varies_of(view, fragments);
        if let Some(mixed) = MixedRunner::new(context, scratch, tile, view.counters.is_some(), varies) {
            return shade_packed((waves, mixed), view, fragments);
        }
    }
    if context.multisample.samples == 1 && context.rates.is_none() {
        fragments.iter().for_each(|fragments| waves.shade_fragments(fragments));
    } else {
        let same = |a: &Fragments, b: &Fragments| (a.primitive, a.place) == (b.primitive, b.place);
        fragments.chunk_by(same).for_each(|samples| waves.shade_samples(samples));
    }
    waves.end()
}

/// Shades dense strips of fragments as groups, and packs the other pixels into waves of the mixed
/// kernel. Returns false if a program was interrupted.
fn shade_packed<'a: 's, 's>(
    (mut waves, mut mixed): (Waves<'a, 's>, MixedRunner<'s>),
    view: &'a TileView<'a>,
    fragments: &[Fragments],
) -> bool {
    let mut ok = true;
    for fragments in fragments {
        let dense = waves.shade_dense(fragments, mixed.unit());
        let sparse = fragments.pixels & !dense;
        if sparse != 0 {
            ok &= mixed.draw_group(view, &Fragments { pixels: sparse, ..*fragments });
        }
    }
    ok &= mixed.flush(view);
    ok & waves.end()
}

/// Returns the values that vary within the primitives of fragments of one draw. If the fragments
/// are few, all values count as varying, so that no special kernel is compiled.
fn varies_of(view: &TileView<'_>, fragments: &[Fragments]) -> Varies {
    let [Fragments { primitive: first, .. }, .., Fragments { primitive: last, .. }] = fragments else {
        return Varies::ALL;
    };
    if fragments.len() < MIN_SPECIALIZED {
        return Varies::ALL;
    }
    let bins = &view.bins[(first >> 16) as usize..=(last >> 16) as usize];
    bins.iter().fold(Varies::NONE, |varies, bin| varies.or(bin.primitives.varies()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small primitive has sides of at most 64 pixels, and at most 1,024 pixels.
    #[test]
    fn large_primitives_are_longer_or_have_more_pixels() {
        let mut words = [[0; WAVE]; Shape::WORDS];
        let sides = [[64, 16], [65, 1], [16, 64], [1, 65], [32, 32], [33, 32], [100, 100]];
        for (lane, [width, height]) in sides.into_iter().enumerate() {
            for (word, pixel) in (Shape::PIXELS as usize..).zip([7, 9, 7 + width, 9 + height]) {
                words[word][lane] = pixel;
            }
        }
        assert_eq!(large(&words), 0b110_1010);
    }
}
