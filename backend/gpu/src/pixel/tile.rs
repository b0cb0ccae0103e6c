//! Rasterization of one tile: primitives in API order become covered quads, early tests and
//! fragment waves.

mod board;
mod filling;
mod hidden;
mod large;
mod traffic;

use std::sync::atomic::Ordering;

use smallvec::SmallVec;
use vitric_base::counters::{Counter, DrawSample, Map, TileCounters, count};
use vitric_base::simd::WAVE;
use vitric_exec::interp::{Stop, Wave, WorkerGuard};

use self::board::{TileBoard, may_supersede};
use self::filling::{Filling, clear};
use self::hidden::Hidden;
use self::traffic::TileTraffic;
use super::DrawContext;
use super::direct::{Lazy, MixedRunner, MixedScratch, PrimitiveRunner};
use super::draw::cuts_blocks;
use super::edge_pairs::{around, find_edge_pairs};
use super::hiz_updates::{begin_bounds, update_bounds};
use super::kernel::{BatchTraits, PrimitiveBatch, SmallPrimitivePath, tests_blocks};
use super::pixel_queue::PixelQueue;
use super::quad::{MAX_SAMPLES, Quad, ShaderDepthStencil};
use super::scoreboard::Fragments;
use super::tiny::TinyPrimitives;
use super::wave::{WaveScratch, Waves};
use super::{PrimitiveId, PrimitiveRun, SMALL_PIXELS, SMALL_SIDE, SetUpScratch, TilePass, TileView, any_of};
use crate::geometry::{PrimitiveBounds, PrimitiveWords, Primitives, Varies};
use crate::hiz::{Bounds, DepthRange, as_stored, groups_of};
use crate::raster::{TILE_LOG2, group_of_pixel, pixel_of_bit, sample_mask, within};

/// Minimum average coverage of a tile's pixels from which on small primitives update Hi-Z.
const DENSE: i64 = 2;

/// Number of small primitives that may update Hi-Z in a dense tile before one of them is hidden.
const SMALL_UPDATES: u32 = 32;

/// Number of further small primitives that may update Hi-Z for each hidden one.
const SMALL_UPDATES_PER_HIDDEN: u32 = 4;

/// Primitives of a tile between two checks of the deadline, a multiple of a wave.
const PRIMITIVES_PER_CHECK: u32 = 512;

/// Primitives of a draw in a tile from which on kernels exploit constant values and edge pairs.
const MIN_SPECIALIZED: usize = 64;

/// Reusable memory of a worker for processing tiles.
#[derive(Default)]
pub struct TileScratch {
    set_up: SetUpScratch,
    waves: WaveScratch,
    small: Wave,
    edge_pairs: Wave,
    mixed: Wave,
    pixel_queue: PixelQueue,
    tinies: TinyPrimitives,
    board: TileBoard,
}

/// Clears a tile where necessary and processes its primitives. Returns false if a program was
/// interrupted.
///
/// `area` are the tile's pixels inside the render area, `[x0, y0, x1, y1]`.
pub fn process_tile(
    pass: &TilePass<'_>,
    number: usize,
    area: [i64; 4],
    scratch: &mut TileScratch,
    counters: Option<&TileCounters>,
) -> bool {
    let mut bounds = pass.bounds(number);
    let TileScratch { set_up, waves, small, edge_pairs, mixed, pixel_queue, tinies, board } = scratch;
    let due = pass.clears.map_or(&[][..], |clears| clears.due(number, pass.is_drawn_to(number)));
    let (draws, bins, scoreboard) = (pass.draws, pass.set_up(number, set_up), pass.scoreboard);
    let view = TileView { draws, bins, scoreboard, area, counters };
    let view = &TileView { scoreboard: scoreboard && may_supersede(&view), ..view };
    let filling = Filling::of(view, bounds.as_deref(), !due.is_empty());
    clear(due, area, filling.as_ref());
    let mut primitive_runs = view.primitive_runs().peekable();
    if view.bins.is_empty() {
        return true;
    }
    let mut updates = small_updates(view);
    // The last segment in the bounds.
    let mut updated = None;
    board.begin_tile();
    let traffic = TileTraffic::begin(view, pass, number, due, filling.as_ref());
    bounds.as_deref_mut().into_iter().for_each(|bounds| begin_bounds(view, bounds));
    while let Some(&PrimitiveRun { draw, .. }) = primitive_runs.peek() {
        let context = &view.draws[draw];
        let overwrites = context.overwrites.filter(|_| view.scoreboard && context.shades());
        if overwrites.is_some_and(|locations| !board.begin(view, context, locations)) {
            return false;
        }
        let tests = bounds.as_deref_mut().is_some_and(|bounds| {
            let is_new = context.segment != updated && context.segment.is_some();
            update_bounds(view, bounds, context, is_new, primitive_runs.clone())
        });
        updated = context.segment;
        let sink = if overwrites.is_some() || !context.shades() {
            Sink::Board
        } else {
            Sink::Waves(Box::new(Waves::new(context, view, waves)))
        };
        let mixed = MixedScratch { wave: &mut *mixed, pixel_queue: &mut *pixel_queue, counted: false };
        let (small, mixed) = (Lazy::Pending(&mut *small), Lazy::Pending(mixed));
        let mut bounds = bounds.as_deref_mut().filter(|_| tests);
        if let (Some(bounds), Some(direction)) = (&mut bounds, context.visibility.tests) {
            bounds.set_direction(direction);
        }
        let (clip, path) = (within(context.scissor, area), context.traits().small);
        let runs_of_draw = primitive_runs.clone().take_while(|primitive_run| primitive_run.draw == draw);
        let DrawTraits { varies, are_many, has_covers, tests_blocks } = DrawTraits::of(context, runs_of_draw);
        let is_cut = context.cuts || has_covers || cuts_blocks(clip);
        let edge_pairs = if are_many && path == Some(SmallPrimitivePath::OneKernel) && !is_cut {
            Lazy::Pending(&mut *edge_pairs)
        } else {
            Lazy::Unavailable
        };
        let mut tile = Tile {
            context,
            working: context.enter(matches!(sink, Sink::Board)),
            view,
            area,
            clip,
            path,
            board: &mut *board,
            sink,
            small,
            edge_pairs,
            varies,
            tests_blocks,
            mixed,
            bounds,
            updates,
            counters,
            tests: [0; 2],
            passed: 0,
            ok: true,
            has_filling: filling.is_some(),
        };
        while let Some(primitive_run) = primitive_runs.next_if(|next| next.draw == draw) {
            tile.primitive_run(&primitive_run, tinies);
        }
        tile.finish();
        updates = tile.updates;
        if !tile.ok {
            return false;
        }
    }
    traffic.iter().for_each(|traffic| traffic.end(view));
    board.shade_all(view)
}

/// Returns the number of small primitives that may update the bounds of a tile without hiding any.
/// It is 0 unless the primitives cover the tile more than [`DENSE`] times.
fn small_updates(view: &TileView<'_>) -> u32 {
    let [x0, y0, x1, y1] = view.area;
    let covered: i64 = view.bins.iter().map(|bin| bin.primitives.pixel_count()).sum();
    if covered > DENSE * (x1 - x0) * (y1 - y0) { SMALL_UPDATES } else { 0 }
}

/// Properties of a draw's primitives in a tile.
struct DrawTraits {
    /// Values that vary within primitives. If the primitives are few, all values count as varying,
    /// so that no special kernel is compiled.
    varies: Varies,
    /// True if the primitives are many.
    are_many: bool,
    /// True if any primitive has other coverage than its corners define.
    has_covers: bool,
    /// True if kernels of small primitives test blocks before their samples.
    tests_blocks: bool,
}

impl DrawTraits {
    fn of<'w>(context: &DrawContext<'_>, primitive_runs: impl Iterator<Item = PrimitiveRun<'w>>) -> Self {
        let (mut varies, mut count, mut has_covers, mut pixels) = (Varies::NONE, 0, false, 0);
        for primitive_run in primitive_runs {
            let primitives = &primitive_run.bin.0.primitives;
            varies = varies.or(primitives.varies());
            count += primitive_run.primitives.len();
            pixels += primitives.pixel_count() * primitive_run.primitives.len() as i64 / primitives.len().max(1) as i64;
            has_covers |= primitives.has_covers();
        }
        let are_many = count >= MIN_SPECIALIZED;
        // Windows of few primitives count as large.
        let pixels = if are_many { pixels / count as i64 } else { i64::MAX };
        let (path, samples) = (context.traits().small, context.multisample.samples);
        let tests_blocks = path.is_some_and(|path| tests_blocks(context.coverage, path, samples, pixels));
        Self { varies: if are_many { varies } else { Varies::ALL }, are_many, has_covers, tests_blocks }
    }
}

/// Marks the groups of a hidden part of a primitive in the counters.
pub(super) fn count_hidden(counters: Option<&TileCounters>, window: [i64; 4]) {
    let Some(counters) = counters else { return };
    groups_of(window).for_each(|group| counters.mark(Map::HizKills, group.map(|pixel| pixel as u32), 1));
}

/// Destination of fragments.
enum Sink<'a, 's> {
    /// The scoreboard, or nowhere if the draw's fragments are not shaded.
    Board,
    /// Fragment waves, in API order.
    Waves(Box<Waves<'a, 's>>),
}

/// A small primitive in a tile.
#[derive(Clone, Copy)]
struct SmallPrimitive {
    id: PrimitiveId,
    /// Index of the primitive in its bin.
    index: u32,
    depths: DepthRange,
    /// Pixels of the tile that the primitive may touch.
    window: [i64; 4],
}

/// A group of a tile that a primitive may touch.
#[derive(Clone, Copy)]
struct GroupWindow {
    /// First pixel of the group.
    group: [i64; 2],
    /// Pixels of the tile that the primitive may touch.
    window: [i64; 4],
    /// True if the primitive covers the whole group.
    full: bool,
}

/// Drawing of one draw's primitives in a tile.
struct Tile<'a, 's> {
    context: &'a DrawContext<'a>,
    /// Measures the time of the draw's programs, if they may run long.
    working: Option<WorkerGuard<'a>>,
    view: &'a TileView<'a>,
    area: [i64; 4],
    /// Pixels of the tile that the draw may touch.
    clip: [i64; 4],
    /// Path of small primitives, or `None` if they are drawn like large ones.
    path: Option<SmallPrimitivePath>,
    board: &'s mut TileBoard,
    sink: Sink<'a, 's>,
    small: Lazy<&'s mut Wave, PrimitiveRunner<'s>>,
    edge_pairs: Lazy<&'s mut Wave, PrimitiveRunner<'s>>,
    /// Values that vary within primitives of the draw.
    varies: Varies,
    /// True if kernels of small primitives test blocks before their samples.
    tests_blocks: bool,
    /// Mixed kernel. Its queued pixels are newer than all other fragments.
    mixed: Lazy<MixedScratch<'s>, MixedRunner<'s>>,
    bounds: Option<&'s mut Bounds>,
    /// Remaining budget of small primitives that may update Hi-Z.
    updates: u32,
    /// Counters of the tile, if counting is on.
    counters: Option<&'a TileCounters>,
    /// Number of Hi-Z tests, and of tests that found hidden primitives.
    tests: [u32; 2],
    /// Samples that passed early tests.
    passed: u64,
    /// False after a program was interrupted.
    ok: bool,
    /// True if the tile's first primitive is a [`Filling`], whose depths are already written.
    has_filling: bool,
}

impl<'a: 's, 's> Tile<'a, 's> {
    /// Draws a run of primitives in blocks of sixteen.
    fn primitive_run(
        &mut self,
        PrimitiveRun { bin: (bin, number), primitives: numbers, sample, .. }: &PrimitiveRun<'_>,
        tinies: &mut TinyPrimitives,
    ) {
        if let Some(counters) = self.counters {
            if counters.draw() != *sample {
                self.begin_counting(counters, *sample);
            }
            counters.count(Counter::BinEntries, numbers.len() as u64);
        }
        let (mut start, first) = (numbers.start, number << 16);
        while start < numbers.end && self.ok {
            let end = (start / WAVE as u32 + 1) * WAVE as u32;
            let block = start..end.min(numbers.end);
            start = block.end;
            self.block((&bin.primitives, first), block, tinies);
            self.ok &= !(end.is_multiple_of(PRIMITIVES_PER_CHECK) && self.context.deadline.expired());
        }
    }

    /// Assigns the counts from now on to another draw with the same state.
    #[cold]
    fn begin_counting(&mut self, counters: &TileCounters, sample: Option<DrawSample>) {
        // Packed pixels and fragments of several pixels are counted when they are shaded.
        self.draw_packed_pixels();
        if let (Sink::Waves(waves), true) = (&mut self.sink, self.context.rates.is_some()) {
            waves.flush();
        }
        counters.begin_draw(sample);
    }

    /// Draws the primitives of one block, tiny ones by the mixed kernel if the draw has one.
    fn block(
        &mut self,
        (primitives, first): (&Primitives, PrimitiveId),
        block: std::ops::Range<u32>,
        tinies: &mut TinyPrimitives,
    ) {
        let lanes = |index: u32| index % WAVE as u32;
        let (mut rest, mut tiny) = ((2 << lanes(block.end - 1)) - (1 << lanes(block.start)), 0);
        if self.path == Some(SmallPrimitivePath::OneKernel) {
            tinies.examine(primitives.block(block.start), self.clip, self.context.cuts);
            rest &= u32::from(tinies.visible);
            tiny = u32::from(tinies.tiny) & rest;
        }
        let view = self.view;
        match if tiny == 0 { None } else { self.mixed() } {
            Some(mixed) => self.ok &= mixed.begin(view, first | block.start),
            None => tiny = 0,
        }
        if tiny != 0 && !self.passes_everywhere(tinies, tiny) {
            tiny = self.visible_tiny(primitives, block.start - lanes(block.start), tiny);
        }
        let edge_pairs = self.edge_pairs_among(primitives, block.start, rest & !tiny);
        while rest != 0 {
            // Pushes the tiny primitives that precede the next primitive of another kind.
            let others = rest & !tiny;
            let pushed = rest & (others & others.wrapping_neg()).wrapping_sub(1);
            if pushed != 0 {
                self.push(tinies, pushed);
            }
            rest &= !pushed;
            if rest != 0 {
                let index = block.start - lanes(block.start) + rest.trailing_zeros();
                // Both functions first draw the queued pixels.
                if edge_pairs & rest & rest.wrapping_neg() != 0 {
                    self.edge_pair(primitives, first | index, index);
                    rest &= rest - 1;
                } else {
                    self.primitive(primitives, first | index, index);
                }
                rest &= rest - 1;
            }
        }
        if self.path == Some(SmallPrimitivePath::OneKernel) {
            self.draw_packed_pixels();
        }
    }

    /// Returns true if no group hides any of the tiny primitives. In that case it loosens the
    /// bounds if the draw writes depth.
    #[inline]
    fn passes_everywhere(&mut self, tinies: &TinyPrimitives, tiny: u32) -> bool {
        let (Some(direction), Some(bounds)) = (self.context.visibility.tests, &mut self.bounds) else { return true };
        let depths = tinies.depths().map(|depths| as_stored(depths, self.context.depth_bits));
        self.tests[0] += 1;
        let passes = bounds.passes_everywhere(
            direction,
            tinies.window.map(i64::from),
            depths,
            self.context.visibility.updates_hiz,
        );
        if passes {
            count(self.counters, Counter::HizSmallQueries, tiny.count_ones().into());
        }
        passes
    }

    /// Returns the tiny primitives of a block that no group hides, and loosens the bounds for them
    /// if the draw writes depth. `first` is the block's first index.
    #[cold]
    fn visible_tiny(&mut self, primitives: &Primitives, first: u32, tiny: u32) -> u32 {
        let (Some(direction), Some(bounds)) = (self.context.visibility.tests, &mut self.bounds) else { return tiny };
        let mut visible = 0u32;
        for lane in (0..WAVE as u32).filter(|lane| tiny >> lane & 1 != 0) {
            let PrimitiveBounds { pixels, depths } = primitives.bounds_of(first + lane);
            let DepthRange { min, max } = as_stored(depths, self.context.depth_bits);
            let depths = [DepthRange::of(min), DepthRange::of(max)];
            if bounds.passes_everywhere(
                direction,
                within(pixels, self.clip),
                depths,
                self.context.visibility.updates_hiz,
            ) {
                visible |= 1 << lane;
            }
        }
        count(self.counters, Counter::HizSmallQueries, u64::from(visible.count_ones()));
        visible
    }

    /// Queues the pixels of tiny primitives.
    #[inline]
    fn push(&mut self, tinies: &TinyPrimitives, lanes: u32) {
        self.flush_sink(within(tinies.window.map(i64::from), self.clip));
        if let Some(mixed) = self.mixed.ready() {
            mixed.push(tinies.batch(lanes as u16), self.counters);
        }
    }

    /// Shades earlier fragments that otherwise might be written after those of a primitive in a
    /// window.
    #[inline]
    fn flush_sink(&mut self, window: [i64; 4]) {
        if let Sink::Waves(waves) = &mut self.sink {
            waves.flush();
        }
        self.shade_overlap(window);
    }

    /// Shades fragments on the scoreboard that otherwise might be written after those of a
    /// primitive in a window.
    #[inline]
    fn shade_overlap(&mut self, window: [i64; 4]) {
        let groups = self.board.overlap(window);
        if groups != 0 && self.context.shades() {
            // The time to shade fragments of other draws does not belong to this draw.
            self.working = None;
            self.ok &= self.board.shade(self.view, groups);
            self.working = self.context.enter(matches!(self.sink, Sink::Board));
        }
    }

    #[inline]
    fn primitive(&mut self, primitives: &Primitives, id: PrimitiveId, index: u32) {
        let PrimitiveBounds { pixels, depths } = primitives.bounds_of(index);
        let window = within(pixels, self.clip);
        if window[0] >= window[2] || window[1] >= window[3] {
            return;
        }
        let [width, height] = [pixels[2] - pixels[0], pixels[3] - pixels[1]];
        let is_small = width.max(height) <= SMALL_SIDE && width * height <= SMALL_PIXELS;
        // A large primitive that viewport clipping makes small does not count as small.
        let is_small = is_small && !(self.context.cuts && primitives.is_wide(index));
        if !(is_small && self.small(primitives, SmallPrimitive { id, index, depths, window })) {
            if !self.packs_pixels() {
                self.draw_packed_pixels();
            }
            if let Sink::Waves(_) = self.sink {
                self.shade_overlap(window);
            }
            self.large(primitives, id, index, window);
        }
    }

    /// Returns true if pixels of large primitives are queued like those of small ones.
    ///
    /// If the program discards, they would otherwise be tested quad by quad after it.
    fn packs_pixels(&mut self) -> bool {
        self.path == Some(SmallPrimitivePath::Sieved) && self.context.discards_first() && self.mixed().is_some()
    }

    /// Draws the queued pixels of tiny primitives.
    #[inline]
    fn draw_packed_pixels(&mut self) {
        if let Some(mixed) = self.mixed.ready() {
            self.ok &= mixed.flush(self.view);
        }
    }

    /// Returns the runner of the mixed kernel, if the draw has such a kernel.
    #[inline]
    fn mixed(&mut self) -> Option<&mut MixedRunner<'s>> {
        let (context, counts, varies) = (self.context, self.counters.is_some(), self.varies);
        let tile = [self.area[0], self.area[1]].map(|pixel| pixel >> TILE_LOG2 << TILE_LOG2);
        self.mixed.get(|scratch| MixedRunner::new(context, scratch, tile, counts, varies))
    }

    /// Draws a small primitive. Returns false if the draw has no kernel for small primitives.
    #[inline]
    fn small(&mut self, primitives: &Primitives, small: SmallPrimitive) -> bool {
        if !self.draws_small() {
            return false;
        }
        let hidden = self.hidden_of_small(primitives, small);
        self.draw_visible(primitives, small, hidden);
        true
    }

    /// Returns true if the draw has a kernel for small primitives.
    #[inline]
    fn draws_small(&mut self) -> bool {
        let (context, area, counts) = (self.context, self.area, self.counters.is_some());
        let batch = BatchTraits { batch: PrimitiveBatch::One, varies: self.varies, tests_blocks: self.tests_blocks };
        let is_there = self.small.get(|wave| PrimitiveRunner::new(context, area, counts, batch, wave)).is_some();
        // Fragments on the scoreboard are shaded by a mixed kernel that starts with the shading.
        let is_mixed = self.path == Some(SmallPrimitivePath::Sieved) && matches!(self.sink, Sink::Waves(_));
        is_there && (!is_mixed || self.mixed().is_some())
    }

    /// Draws the parts of a small primitive that are not hidden.
    #[inline(always)]
    fn draw_visible(&mut self, primitives: &Primitives, mut small: SmallPrimitive, hidden: Hidden) {
        if hidden.any {
            let Some(visible) = self.visible_window(small, hidden.all) else { return };
            small.window = visible;
        }
        let SmallPrimitive { id, index, window, .. } = small;
        if self.path == Some(SmallPrimitivePath::Sieved) {
            return self.sieve(id, primitives.words(index), window);
        }
        self.flush_sink(window);
        self.draw_packed_pixels();
        if let Some(small) = self.small.ready() {
            self.ok &= small.draw(primitives.words(index), window, self.counters) != Stop::Interrupted;
        }
    }

    /// Returns the primitives in `some` that form an edge pair with the next one in `some`.
    #[inline]
    fn edge_pairs_among(&mut self, primitives: &Primitives, first: u32, some: u32) -> u32 {
        let followed = some & some >> 1;
        let (context, area, counts) = (self.context, self.area, self.counters.is_some());
        let batch =
            BatchTraits { batch: PrimitiveBatch::EdgePair, varies: self.varies, tests_blocks: self.tests_blocks };
        if followed == 0 || !self.draws_small() {
            return 0;
        }
        let Some(small) = self.edge_pairs.get(|wave| PrimitiveRunner::new(context, area, counts, batch, wave)) else {
            return 0;
        };
        followed & u32::from(find_edge_pairs(primitives.block(first), &small.stage.common, self.clip))
    }

    /// Draws an edge pair: a primitive and the next one.
    #[inline(never)]
    fn edge_pair(&mut self, primitives: &Primitives, id: PrimitiveId, index: u32) {
        let small = |number: u32| {
            let PrimitiveBounds { pixels, depths } = primitives.bounds_of(index + number);
            SmallPrimitive { id: id + number, index: index + number, depths, window: within(pixels, self.clip) }
        };
        let (first, second) = (small(0), small(1));
        let hidden_first = self.hidden_of_small(primitives, first);
        let hidden_second = self.hidden_of_small(primitives, second);
        if hidden_first.any | hidden_second.any {
            self.draw_visible(primitives, first, hidden_first);
            return self.draw_visible(primitives, second, hidden_second);
        }
        let window = around(first.window, second.window);
        self.flush_sink(window);
        self.draw_packed_pixels();
        if let Some(edge_pairs) = self.edge_pairs.ready() {
            let words = [primitives.words(index), primitives.words(index + 1)];
            self.ok &= edge_pairs.draw_both(words, window, self.counters) != Stop::Interrupted;
        }
    }

    /// Forwards the pixels of a small primitive that the sieve kernel leaves.
    #[inline]
    fn sieve(&mut self, id: PrimitiveId, words: PrimitiveWords<'_>, window: [i64; 4]) {
        let view = self.view;
        if !self.context.shades() {
            let small = self.small.ready().into_iter();
            return small.for_each(|small| small.sieve(words, window, self.counters, |_, _| {}));
        }
        if let (Some(small), Sink::Board) = (self.small.ready(), &self.sink) {
            let (board, mut ok) = (&mut *self.board, true);
            small
                .sieve(words, window, self.counters, |block, pixels| ok &= board.push_block(view, id, (block, pixels)));
            self.ok &= ok;
            return;
        }
        self.flush_sink(window);
        let (Some(small), Some(mixed)) = (self.small.ready(), self.mixed.ready()) else { return };
        let mut ok = mixed.begin(view, id);
        small.sieve(words, window, self.counters, |block, pixels| ok &= mixed.draw_block(view, id, (block, pixels)));
        self.ok &= ok;
    }

    /// Forwards fragments of one sample a pixel, after early tests unless they are `tested`.
    #[inline]
    fn pixels(&mut self, fragments: Fragments, tested: bool) {
        if tested {
            self.pass(true, fragments.pixels.count_ones());
            return self.fragments(fragments);
        }
        let Fragments { primitive, place, .. } = fragments;
        if self.context.rates.is_some() {
            return self.cells((primitive, place), &mut [fragments.pixels], false);
        }
        let mut rest = fragments.pixels;
        while rest != 0 {
            let first = rest.trailing_zeros() & !3;
            let ([dx, dy], [x, y]) = (pixel_of_bit(first), place);
            self.covered_quad(Quad::of_pixels(primitive, [x + dx, y + dy], rest >> first & 15), false);
            rest &= !(15 << first);
        }
    }

    /// Tests samples of fragments that may be coarse, and forwards the whole group.
    #[cold]
    fn cells(&mut self, (primitive, place): (PrimitiveId, [u32; 2]), masks: &mut [u64], tested: bool) {
        let untested: Option<SmallVec<[u64; MAX_SAMPLES]>> =
            self.context.sees_untested().then(|| SmallVec::from_slice(masks));
        if tested {
            self.pass(true, masks.iter().map(|mask| mask.count_ones()).sum());
        } else {
            let mut rest = any_of(masks);
            while rest != 0 {
                let first = rest.trailing_zeros() & !3;
                let [dx, dy] = pixel_of_bit(first);
                let samples = masks.iter().map(|mask| mask >> first & 15);
                let mut quad = Quad::of_samples(primitive, [place[0] + dx, place[1] + dy], samples);
                self.passed += quad.test(self.context, self.view, ShaderDepthStencil::default());
                if self.context.masks_late() {
                    let mask = sample_mask(&self.context.multisample);
                    (0..4).for_each(|pixel| quad.restrict(pixel, mask));
                }
                for (sample, mask) in (0..).zip(masks.iter_mut()) {
                    *mask = *mask & !(15 << first) | u64::from(quad.pixels_at(sample)) << first;
                }
                rest &= !(15 << first);
            }
        }
        match &mut self.sink {
            Sink::Waves(waves) => waves.push_cells((primitive, place), masks, untested.as_deref()),
            // Fragments that span several pixels are counted when they are shaded.
            Sink::Board => self.queue_samples((primitive, place), masks),
        }
    }

    /// Queues the covered samples of a group on the scoreboard.
    fn queue_samples(&mut self, (primitive, place): (PrimitiveId, [u32; 2]), masks: &[u64]) {
        if !self.context.shades() {
            return;
        }
        self.ok &= self.board.make_room(self.view);
        for (sample, &pixels) in (0..).zip(masks).filter(|(_, pixels)| **pixels != 0) {
            self.board.push(Fragments { primitive, place, sample, pixels });
        }
    }

    /// Adds samples that passed early tests.
    fn pass(&mut self, tested: bool, samples: u32) {
        if tested && self.context.tests_early() {
            self.passed += u64::from(samples);
        }
    }

    /// Counts tested fragments, and shades or queues them.
    fn fragments(&mut self, fragments: Fragments) {
        if fragments.pixels == 0 || !self.context.shades() {
            return;
        }
        if self.packs_pixels() && !self.shades_as_group(&fragments) {
            return;
        }
        count(self.counters, Counter::Fragments, fragments.pixels.count_ones().into());
        match &mut self.sink {
            Sink::Waves(waves) => waves.shade_fragments(&fragments),
            Sink::Board => {
                self.ok &= self.board.make_room(self.view);
                self.board.push(fragments);
            }
        }
    }

    /// Returns true if the fragments are shaded at once as a group, after drawing queued pixels.
    /// Otherwise queues their pixels and returns false.
    fn shades_as_group(&mut self, fragments: &Fragments) -> bool {
        let Sink::Waves(waves) = &mut self.sink else { return true };
        if waves.can_shade_group(fragments.place, &[fragments.pixels]) {
            self.draw_packed_pixels();
            return true;
        }
        waves.flush();
        if let Some(mixed) = self.mixed.ready() {
            self.ok &= mixed.draw_group(self.view, fragments);
        }
        false
    }

    /// Queues a quad for a wave. Tests it before, unless tests were done or come later (`tested`).
    fn covered_quad(&mut self, mut quad: Quad, tested: bool) {
        let untested = quad;
        if !tested {
            self.passed += quad.test(self.context, self.view, ShaderDepthStencil::default());
            if self.context.masks_late() {
                let mask = sample_mask(&self.context.multisample);
                (0..4).for_each(|pixel| quad.restrict(pixel, mask));
            }
        }
        if quad.count() == 0 || !self.context.shades() {
            return;
        }
        let fragments = if self.context.shades_samples() { quad.count() } else { quad.pixels().count_ones().into() };
        count(self.counters, Counter::Fragments, fragments);
        if let Sink::Waves(waves) = &mut self.sink {
            if self.context.sees_untested() {
                waves.keep_untested(untested);
            }
            return waves.push(quad);
        }
        let (place, bit) = group_of_pixel([quad.x, quad.y]);
        let samples = 0..self.context.multisample.samples;
        let masks: SmallVec<[u64; MAX_SAMPLES]> =
            samples.map(|sample| u64::from(quad.pixels_at(sample)) << bit).collect();
        self.queue_samples((quad.primitive, place), &masks);
    }

    /// Shades queued fragments and adds up the counters.
    fn finish(&mut self) {
        self.draw_packed_pixels();
        if let Some(bounds) = &mut self.bounds {
            let [tests, hidden] = self.tests;
            bounds.heuristic().count_tests(tests, hidden);
            bounds.recompute_tile();
        }
        if let Sink::Waves(waves) = &mut self.sink {
            waves.flush();
            self.passed += waves.passed;
            self.ok &= waves.ok;
        }
        if let Some(counter) = self.context.occlusion {
            counter.fetch_add(self.passed, Ordering::Relaxed);
        }
    }
}
