//! Runners of kernels that export directly: group kernels, primitive kernels and mixed kernels.

use smallvec::SmallVec;
use vitric_base::counters::{Counter, Map, TileCounters};
use vitric_base::simd::{WAVE, each, kernel};
use vitric_exec::interp::{Environment, Runs, Stop, Wave};
use vitric_exec::runtime::Ranges;
use vitric_memory::PlaneRef;

use super::DrawContext;
use super::counting::{EdgeWords, count_exported, count_waves, mark_covered};
use super::depths::sample_place;
use super::kernel::{BatchTraits, KernelCounts, KernelInput, KernelTally, SmallPrimitivePath, Stage};
use super::pixel_queue::{PackedPixel, PixelQueue, TinyBatch, Unit};
use super::scoreboard::Fragments;
use super::{BLOCK, PrimitiveId, TileView};
use crate::geometry::{PrimitiveWords, Varies};
use crate::raster::{Shape, block_of_group, sample_mask};

/// Pixels of a block of 4x4 pixels, and of the area that a tiny primitive may touch.
const BLOCK_PIXELS: u32 = 16;

/// Runner of a kernel, created at first use. The kernel is also compiled then.
pub(super) enum Lazy<S, T> {
    /// Memory for the runner, which is not created yet.
    Pending(S),
    Ready(T),
    /// The draw has no such kernel.
    Unavailable,
}

impl<S, T> Lazy<S, T> {
    #[inline]
    pub(super) fn get(&mut self, make: impl FnOnce(S) -> Option<T>) -> Option<&mut T> {
        if let Self::Pending(_) = self
            && let Self::Pending(scratch) = std::mem::replace(self, Self::Unavailable)
        {
            *self = make(scratch).map_or(Self::Unavailable, Self::Ready);
        }
        self.ready()
    }

    /// Returns the runner if it was created.
    #[inline]
    pub(super) fn ready(&mut self) -> Option<&mut T> {
        if let Self::Ready(runner) = self { Some(runner) } else { None }
    }
}

/// Prepares runs of a draw's kernel in a tile and sets the inputs that do not change.
fn runs<'a: 's, 's>(
    context: &'a DrawContext<'a>,
    (stage, ranges): (&'a Stage, &'a Ranges),
    wave: &'s mut Wave,
) -> Runs<'s> {
    let environment =
        Environment { push: context.push, ranges, ..Environment::new(context.bindings, context.deadline) };
    let mut runs = wave.runs(&stage.program, environment);
    for &(slot, source) in &stage.sources {
        match source {
            KernelInput::BlendConstant(component) => runs.set(slot, context.blend_constants[component].to_bits()),
            KernelInput::Pitch(plane) => runs.set(slot, context.pitches[plane]),
            KernelInput::Wave => runs.set(slot, (slot / (stage.program.inputs.len() / stage.waves)) as u32),
            _ => {}
        }
    }
    runs
}

/// Runner of a draw's group kernel, which shades and exports groups of one primitive.
pub(super) struct GroupRunner<'s> {
    runs: Runs<'s>,
    /// Input words that change from group to group: slot and input.
    changing: SmallVec<[(usize, KernelInput); 8]>,
    /// Planes of the attachments by target number. The depth plane follows if this kernel tests
    /// depth.
    planes: Vec<PlaneRef<'s>>,
    /// True if fragments are tested after the program.
    late: bool,
    /// Locations of the samples, if a run shades one sample.
    places: Option<&'s [[i64; 2]]>,
}

impl<'s> GroupRunner<'s> {
    /// Returns the runner of a draw's group kernel, or `None` if groups cannot be shaded at once.
    ///
    /// With `whole`, the kernel handles only fully covered groups. With `counts`, a late kernel
    /// counts exported fragments.
    pub(super) fn new<'a: 's>(
        context: &'a DrawContext<'a>,
        (whole, counts): (bool, bool),
        wave: &'s mut Wave,
    ) -> Option<Self> {
        let (ranges, late) = (context.direct.as_ref()?, !context.tests_early());
        let stage = match (late, whole) {
            (true, _) => context.late_kernel(counts)?,
            (false, true) => context.whole_kernel()?,
            (false, false) => context.group_kernel()?,
        };
        let tested = context.depth.as_ref().filter(|_| late && context.depth_alone.is_some());
        let planes = context.targets().chain(tested.map(Some)).map(|plane| plane.copied()).collect::<Option<_>>()?;
        let of_group =
            |source| matches!(source, KernelInput::Corner(_) | KernelInput::Pixels(_) | KernelInput::Line(_));
        let changes = |source| of_group(source) || matches!(source, KernelInput::Place(_) | KernelInput::Sample);
        let changing = stage.sources.iter().copied().filter(|&(_, source)| changes(source)).collect();
        let places = context.shades_samples().then_some(&*context.locations);
        Some(Self { runs: runs(context, (stage, ranges), wave), changing, planes, late, places })
    }

    /// Returns the number of fragments that the last run exported, if the kernel tests late and
    /// counts.
    pub(super) fn exported(&self) -> Option<u32> {
        self.runs.outputs.first().filter(|_| self.late).map(|lanes| lanes[0])
    }

    /// Returns true if a group's texels lie in one line of each attachment.
    #[inline]
    pub(super) fn has_lines(&self, [x, y]: [u32; 2]) -> bool {
        self.planes.iter().all(|plane| plane.is_line_at(x, y))
    }

    /// Shades the fragments of a primitive in the group at `place`. `masks` are the covered pixels
    /// of each sample.
    #[inline]
    pub(super) fn shade(&mut self, words: PrimitiveWords<'_>, place: [u32; 2], masks: &[u64]) -> Stop {
        match self.places {
            None => self.run(words, place, (0, masks)),
            Some(_) => self.shade_each(words, place, masks),
        }
    }

    /// Shades the fragments with a separate run for each sample.
    fn shade_each(&mut self, words: PrimitiveWords<'_>, place: [u32; 2], masks: &[u64]) -> Stop {
        for (sample, mask) in masks.iter().enumerate().filter(|(_, mask)| **mask != 0) {
            if self.run(words, place, (sample, std::slice::from_ref(mask))) == Stop::Interrupted {
                return Stop::Interrupted;
            }
        }
        Stop::Done
    }

    /// Runs the kernel for the samples from `first` on, whose covered pixels are `masks`.
    #[inline(always)]
    fn run(&mut self, words: PrimitiveWords<'_>, place @ [x, y]: [u32; 2], (first, masks): (usize, &[u64])) -> Stop {
        for &(slot, source) in &self.changing {
            let word = match source {
                KernelInput::Corner(axis) => (place[axis] as f32).to_bits(),
                KernelInput::Pixels(half) => (masks[half / 2] >> (32 * (half % 2))) as u32,
                KernelInput::Line(plane) => self.planes[plane].offset(x, y, first as u32),
                KernelInput::Place(axis) => sample_place(self.places.unwrap_or(&[]), first as u32)[axis].to_bits(),
                KernelInput::Sample => first as u32,
                _ => continue,
            };
            self.runs.set(slot, word);
        }
        self.runs.run(words.parameters())
    }
}

/// Pixels along each axis that one run of a sieve covers. Its sixteen blocks correspond to the
/// lanes of a word.
const SIEVED: i64 = 16;

/// Runner of a draw's primitive kernel, which draws small primitives from coverage to export. A
/// sieve instead returns the pixels that remain after the depth test.
pub(super) struct PrimitiveRunner<'s> {
    runs: Runs<'s>,
    pub(super) stage: &'s Stage,
    /// Input slots of the window: x and y of its first pixel, then its width and height.
    window: [usize; 4],
    /// Samples of a pixel.
    samples: u32,
    /// Places of the samples that may be covered, in units. Empty unless the kernel counts.
    places: SmallVec<[[i64; 2]; 4]>,
    is_sieve: bool,
    /// True if the kernel tests blocks before their samples.
    tests_blocks: bool,
}

impl<'s> PrimitiveRunner<'s> {
    /// Returns the runner of a draw's primitive kernel in an area of a tile, or `None` if there is
    /// no such kernel.
    ///
    /// With `counts`, the kernel counts. `batch` describes the primitives that a run draws.
    pub(super) fn new<'a: 's>(
        context: &'a DrawContext<'a>,
        area: [i64; 4],
        counts: bool,
        batch: BatchTraits,
        wave: &'s mut Wave,
    ) -> Option<Self> {
        if !context.has_whole_blocks(area) {
            return None;
        }
        let (stage, ranges) = (context.primitive_kernel(counts, batch)?, context.direct.as_ref()?);
        let slot =
            |part| stage.sources.iter().find(|(_, source)| *source == KernelInput::Window(part)).map(|found| found.0);
        let window = [slot(0)?, slot(1)?, slot(2)?, slot(3)?];
        let samples = context.multisample.samples;
        let is_sieve = context.traits().small == Some(SmallPrimitivePath::Sieved);
        let (runs, tests_blocks) = (runs(context, (stage, ranges), wave), batch.tests_blocks);
        let mask = if counts { sample_mask(&context.multisample) } else { 0 };
        let places = (0..).zip(&*context.locations).filter(|(sample, _)| mask >> sample & 1 != 0);
        let places = places.map(|(_, place)| *place).collect();
        Some(Self { runs, stage, window, samples, places, is_sieve, tests_blocks })
    }

    /// Draws the part of a primitive that lies in the window `[x0, y0, x1, y1]`.
    #[inline]
    pub(super) fn draw(
        &mut self,
        words: PrimitiveWords<'_>,
        window: [i64; 4],
        counters: Option<&TileCounters>,
    ) -> Stop {
        let stop = self.run(words, window);
        if let Some(counters) = counters {
            self.count(counters, &[words], window);
        }
        stop
    }

    /// Draws an edge pair. `first` and `second` are the words of its primitives.
    #[inline]
    pub(super) fn draw_both(
        &mut self,
        [first, second]: [PrimitiveWords<'_>; 2],
        window: [i64; 4],
        counters: Option<&TileCounters>,
    ) -> Stop {
        for &(slot, word) in &self.stage.edges {
            self.runs.set(slot, second.get(Shape::EDGES + word));
        }
        let stop = self.run(first, window);
        if let Some(counters) = counters {
            self.count(counters, &[first, second], window);
        }
        stop
    }

    /// Runs the sieve on the part of a primitive that lies in a window.
    ///
    /// Calls `take` for each block that has pixels left, with the block's first pixel and the
    /// remaining pixels in the order of a wave's lanes. The kernel must be a sieve.
    #[inline]
    pub(super) fn sieve(
        &mut self,
        words: PrimitiveWords<'_>,
        window: [i64; 4],
        counters: Option<&TileCounters>,
        mut take: impl FnMut([i64; 2], u16),
    ) {
        let [x0, y0, x1, y1] = window;
        let [left, top] = [x0, y0].map(|pixel| pixel & !(BLOCK - 1));
        for y in (top..y1).step_by(SIEVED as usize) {
            for x in (left..x1).step_by(SIEVED as usize) {
                let part = [x.max(x0), y.max(y0), x1.min(x + SIEVED), y1.min(y + SIEVED)];
                // The only loop is that over blocks, so nothing can interrupt the kernel.
                self.run(words, part);
                for (number, &mask) in (0..).zip(&self.runs.outputs[0]).filter(|(_, mask)| **mask != 0) {
                    // Blocks are numbered like the pixels of a block.
                    let [column, row] = [number & 1 | number >> 1 & 2, number >> 1 & 1 | number >> 2 & 2];
                    take([x + column * BLOCK, y + row * BLOCK], mask as u16);
                }
                if let Some(counters) = counters {
                    self.count(counters, &[words], part);
                }
            }
        }
    }

    #[inline]
    fn run(&mut self, words: PrimitiveWords<'_>, [x0, y0, x1, y1]: [i64; 4]) -> Stop {
        for (slot, value) in self.window.into_iter().zip([x0, y0, x1 - x0, y1 - y0]) {
            self.runs.set(slot, value as u32);
        }
        self.runs.run(words.parameters())
    }

    /// Adds the kernel's counts for primitives with these words to the counters. Waves and lanes
    /// are those of the window's first group.
    #[cold]
    fn count(&self, counters: &TileCounters, primitives: &[PrimitiveWords<'_>], window: [i64; 4]) {
        let place = [window[0] as u32, window[1] as u32];
        let first = usize::from(self.is_sieve);
        let counts = KernelTally::decode(self.samples, |word| self.runs.outputs[first + word][0]);
        let KernelCounts { blocks, covered, waves, lanes } = counts;
        if self.tests_blocks {
            counters.count(Counter::BlocksConservative, blocks_of(window) as u64);
            counters.count(Counter::BlocksTouched, blocks.into());
        }
        counters.count(Counter::Blocks, blocks.into());
        counters.count(Counter::SamplesStandard, (blocks * BLOCK_PIXELS * self.samples).into());
        counters.count(Counter::SamplesCovered, covered.into());
        let edges: SmallVec<[[EdgeWords; 3]; 2]> = primitives.iter().map(|words| edges_of(*words)).collect();
        let marked = mark_covered(counters, &edges, window, &self.places);
        debug_assert_eq!(marked, covered, "{edges:?} in {window:?}");
        if !self.is_sieve {
            // Programs that never discard have no such output.
            let exported = self.runs.outputs.get(KernelTally::words(self.samples)).map_or(lanes, |lanes| lanes[0]);
            counters.count(Counter::Fragments, lanes.into());
            count_exporting_waves(counters, place, [waves, lanes, exported]);
        }
    }
}

/// Returns the number of blocks that a window touches.
fn blocks_of(window: [i64; 4]) -> i64 {
    let across = |axis: usize| (window[axis + 2] - (window[axis] & !(BLOCK - 1)) + BLOCK - 1) / BLOCK;
    across(0) * across(1)
}

/// Returns the edges of a small primitive.
fn edges_of(words: PrimitiveWords<'_>) -> [EdgeWords; 3] {
    [0, 1, 2].map(|edge: u32| [0, 1, 2].map(|part: u32| words.get(Shape::EDGES + 3 * edge + part) as i32))
}

/// Counts blocks of tiny primitives.
#[cold]
fn count_tiny(counters: &TileCounters, batch: TinyBatch<'_>) {
    let blocks = u64::from(batch.lanes.count_ones());
    counters.count(Counter::Blocks, blocks);
    counters.count(Counter::SamplesStandard, blocks * u64::from(BLOCK_PIXELS));
    counters.count(Counter::SamplesCovered, mark_tiny(counters, batch).into());
}

#[inline(always)]
fn mark_tiny_lanes(counters: &TileCounters, TinyBatch { firsts, pixels, lanes }: TinyBatch<'_>) -> u32 {
    let covered = each(|lane| if lanes >> lane & 1 != 0 { pixels[lane].count_ones() } else { 0 });
    // Positions relative to the tile identify the same groups because a tile starts at a group.
    let groups = each(|lane| TileCounters::group(PackedPixel::place(firsts[lane])));
    groups.into_iter().zip(covered).for_each(|(group, covered)| counters.mark_group(Map::Overdraw, group, covered));
    covered.iter().sum()
}

kernel!(
    /// Marks the pixels of tiny primitives in the overdraw map and returns their number.
    mark_tiny, mark_tiny_lanes, (counters: &TileCounters, batch: TinyBatch<'_>) -> u32
);

/// Counts waves of kernels that export directly, and the exported fragments.
fn count_exporting_waves(counters: &TileCounters, place: [u32; 2], [waves, lanes, exported]: [u32; 3]) {
    count_waves(counters, place, waves, lanes);
    count_exported(counters, lanes, exported);
}

/// Reusable memory of a worker for a [`MixedRunner`] kernel.
pub(super) struct MixedScratch<'s> {
    pub(super) wave: &'s mut Wave,
    pub(super) pixel_queue: &'s mut PixelQueue,
    /// True if the fragments were counted before they are queued.
    pub(super) counted: bool,
}

/// Runner of a draw's mixed kernel, which draws a full wave of queued pixels of tiny primitives at
/// a time.
pub(super) struct MixedRunner<'s> {
    runs: Runs<'s>,
    /// Input slot of the packed pixels.
    slot: usize,
    /// First pixel of the tile.
    tile: [i64; 2],
    pixel_queue: &'s mut PixelQueue,
    /// First of the sixteen primitives whose pixels are queued.
    first: PrimitiveId,
    /// True if the fragments were counted before they were queued.
    counted: bool,
}

impl<'s> MixedRunner<'s> {
    /// Returns the runner of a draw's mixed kernel in the tile whose first pixel is `tile`, or
    /// `None` if there is no such kernel.
    pub(super) fn new<'a: 's>(
        context: &'a DrawContext<'a>,
        MixedScratch { wave, pixel_queue, counted }: MixedScratch<'s>,
        tile: [i64; 2],
        counts: bool,
        varies: Varies,
    ) -> Option<Self> {
        let (stage, ranges) = (context.mixed_kernel(counts, varies)?, context.direct.as_ref()?);
        let slot = stage.sources.iter().find(|(_, source)| *source == KernelInput::PackedPixel)?.0;
        let sieved = context.traits().small == Some(SmallPrimitivePath::Sieved);
        pixel_queue.set_unit(if sieved && context.traits().uses_derivatives { Unit::Quad } else { Unit::Pixel });
        let mut runs = runs(context, (stage, ranges), wave);
        for &(slot, source) in &stage.sources {
            if let KernelInput::Window(axis) = source {
                runs.set(slot, tile[axis] as u32);
            }
        }
        Some(Self { runs, slot, tile, pixel_queue, first: 0, counted })
    }

    /// Returns the unit in which pixels are queued.
    pub(super) fn unit(&self) -> Unit {
        self.pixel_queue.unit()
    }

    /// Queues pixels of tiny primitives among the current sixteen.
    #[inline]
    pub(super) fn push(&mut self, batch: TinyBatch<'_>, counters: Option<&TileCounters>) {
        self.pixel_queue.push_batch(batch);
        if let Some(counters) = counters {
            count_tiny(counters, batch);
        }
    }

    /// Makes the sixteen primitives that include `id` current, after drawing queued pixels of
    /// others. Returns false if the program was interrupted.
    #[inline]
    pub(super) fn begin(&mut self, view: &TileView<'_>, id: PrimitiveId) -> bool {
        let first = id & !(WAVE as u32 - 1);
        if first == self.first {
            return true;
        }
        let ok = self.flush(view);
        self.first = first;
        ok
    }

    /// Queues pixels of a block that a sieve has left, in the order of a wave's lanes, and draws
    /// full waves. Returns false if the program was interrupted.
    #[inline]
    pub(super) fn draw_block(
        &mut self,
        view: &TileView<'_>,
        id: PrimitiveId,
        (block, pixels): ([i64; 2], u16),
    ) -> bool {
        let place = [0, 1].map(|axis: usize| (block[axis] - self.tile[axis]) as u32);
        self.pixel_queue.push_block(place, id % WAVE as u32, pixels);
        let mut ok = true;
        while self.pixel_queue.fill_wave() {
            ok &= self.run(view);
        }
        self.pixel_queue.make_room();
        ok
    }

    /// Queues the pixels of a group that a primitive covers, and draws full waves. Returns false
    /// if the program was interrupted.
    #[inline]
    pub(super) fn draw_group(&mut self, view: &TileView<'_>, fragments: &Fragments) -> bool {
        let mut ok = self.begin(view, fragments.primitive);
        for number in 0..4 {
            let block = [number & 1, number >> 1];
            let pixels = block_of_group(fragments.pixels, block);
            if pixels != 0 {
                let place = [0, 1].map(|axis| i64::from(fragments.place[axis]) + BLOCK * i64::from(block[axis]));
                ok &= self.draw_block(view, fragments.primitive, (place, pixels));
            }
        }
        ok
    }

    /// Draws all queued pixels. Returns false if the program was interrupted.
    #[inline]
    pub(super) fn flush(&mut self, view: &TileView<'_>) -> bool {
        let mut ok = true;
        while !self.pixel_queue.is_empty() {
            ok &= self.run(view);
        }
        self.pixel_queue.make_room();
        ok
    }

    fn run(&mut self, view: &TileView<'_>) -> bool {
        self.pixel_queue.next_wave(self.runs.lanes(self.slot));
        let stop = self.runs.run(view.words(self.first).parameters());
        if let Some(counters) = view.counters {
            self.count(counters);
        }
        stop != Stop::Interrupted
    }

    /// Adds the fragments of a wave to the counters of its first pixel's group.
    #[cold]
    fn count(&mut self, counters: &TileCounters) {
        let lanes = self.runs.outputs[0][0];
        // Programs that never discard have no such output.
        let exported = self.runs.outputs.get(1).map_or(lanes, |lanes| lanes.iter().sum());
        let place = PackedPixel::place(self.runs.lanes(self.slot)[0]);
        let place = [0, 1].map(|axis| self.tile[axis] as u32 + place[axis]);
        if !self.counted {
            counters.count(Counter::Fragments, lanes.into());
        }
        count_exporting_waves(counters, place, [u32::from(lanes > 0), lanes, exported]);
    }
}
