//! Fragment waves: quads are queued until four are present, then shaded together, tested late if
//! necessary, and exported.
//!
//! A wave may contain quads of several primitives of a draw. Quads are exported in the order of
//! rasterization, so results equal those of sequential fragments.

mod coarse;

use smallvec::SmallVec;
use vitric_base::counters::{Counter, Map, TileCounters};
use vitric_base::simd::{Lanes, Mask, WAVE};
use vitric_exec::interp::{Environment, Stop, Wave};
use vitric_exec::runtime::math::within;
use vitric_memory::PlaneRef;

use super::counting::{count_exported, count_waves};
use super::coverage::groups_between;
use super::direct::{GroupRunner, Lazy};
use super::inputs::WaveFragments;
use super::kernel::{Kernel, KernelInput, SmallPrimitivePath, Stage, Target};
use super::pixel_queue::Unit;
use super::quad::{MAX_SAMPLES, QUADS, Quad, ShaderDepthStencil};
use super::scoreboard::Fragments;
use super::{DrawContext, any_of};
use super::{PrimitiveId, TileView};
use crate::geometry::PrimitiveWords;
use crate::raster::{SIDE, pixel_of_bit};

/// Reusable memory of a worker for waves.
#[derive(Default)]
pub(super) struct WaveScratch {
    shade: Wave,
    pair: Wave,
    export: Wave,
    group: Wave,
    whole: Wave,
}

/// The parts of [`WaveScratch`] for waves of quads.
pub(super) struct OfQuads<'s> {
    pub(super) shade: &'s mut Wave,
    pair: &'s mut Wave,
    pub(super) export: &'s mut Wave,
}

/// Queue of the quads of a draw in a tile, with the kernels that shade them.
pub(super) struct Waves<'a, 's> {
    pub(super) context: &'a DrawContext<'a>,
    pub(super) view: &'a TileView<'a>,
    pub(super) scratch: OfQuads<'s>,
    /// Runners for whole groups at once: for partially covered groups, and for fully covered
    /// groups.
    groups: Lazy<&'s mut Wave, GroupRunner<'s>>,
    whole: Lazy<&'s mut Wave, GroupRunner<'s>>,
    /// True if strips of groups with few quads are packed into waves.
    packs_sparse: bool,
    /// Counters of the tile, if counting is on.
    pub(super) counters: Option<&'a TileCounters>,
    quads: [Quad; QUADS],
    /// Number of queued quads.
    queued: usize,
    /// The last quads before their tests, if the program reads that coverage.
    untested: SmallVec<[Quad; QUADS]>,
    /// Queued quads of fragments that span several pixels. If there are any, no other quads are
    /// queued.
    cells: SmallVec<[coarse::Cells; QUADS]>,
    /// True if no two quads have the same place.
    apart: bool,
    /// True if colours are combined with stored texels, or if fragments of a pixel must not run
    /// concurrently.
    pub(super) combines: bool,
    /// Samples that passed late tests.
    pub(super) passed: u64,
    /// False after a program was interrupted.
    pub(super) ok: bool,
}

impl<'a: 's, 's> Waves<'a, 's> {
    pub(super) fn new(context: &'a DrawContext<'a>, view: &'a TileView<'a>, scratch: &'s mut WaveScratch) -> Self {
        let interlock = context.fragment.is_some_and(|program| program.fragment.interlock);
        let combines = context.traits().needs_stored || interlock;
        let apart = context.overwrites.is_some() && view.scoreboard;
        let quads = [Quad::default(); QUADS];
        let WaveScratch { shade, pair, export, group, whole } = scratch;
        let scratch = OfQuads { shade, pair, export };
        let (groups, whole) = (Lazy::Pending(group), Lazy::Pending(whole));
        // Late tests, and writes of several samples, process quads one by one, so a packed wave
        // would save nothing.
        let one_by_one = !context.tests_early() || context.multisample.samples > 1;
        let packs_sparse = context.traits().small != Some(SmallPrimitivePath::OneKernel) && !one_by_one;
        Self {
            context,
            view,
            scratch,
            groups,
            whole,
            packs_sparse,
            counters: view.counters,
            quads,
            queued: 0,
            untested: SmallVec::new(),
            cells: SmallVec::new(),
            apart,
            combines,
            passed: 0,
            ok: true,
        }
    }

    /// Shades queued quads. Returns false if a program was interrupted.
    pub(super) fn end(mut self) -> bool {
        self.flush();
        self.ok
    }

    /// Shades fragments of one sample a pixel.
    #[inline]
    pub(super) fn shade_fragments(&mut self, &Fragments { primitive, place, pixels, .. }: &Fragments) {
        self.shade((primitive, place), &[pixels]);
    }

    /// Shades fragments of a primitive in a group. `masks` are the covered pixels of each sample.
    #[inline]
    pub(super) fn shade(&mut self, at: (PrimitiveId, [u32; 2]), masks: &[u64]) {
        if !self.can_shade_group(at.1, masks) {
            return self.shade_quads(at, masks);
        }
        let any = any_of(masks);
        let dense = if self.packs_sparse { dense_strips(any, DENSE) } else { u64::MAX };
        if any & !dense == 0 {
            return self.shade_group(at, masks);
        }
        let of = |strips: u64| masks.iter().map(|mask| mask & strips).collect::<SmallVec<[u64; MAX_SAMPLES]>>();
        if any & dense != 0 {
            self.shade_group(at, &of(dense));
        }
        self.shade_quads(at, &of(!dense));
    }

    /// Shades those strips of a group at once in which most lanes of a wave have fragments. Returns
    /// the pixels that it shaded.
    ///
    /// Other pixels should be packed in `unit`s.
    #[inline]
    pub(super) fn shade_dense(&mut self, &Fragments { primitive, place, pixels, .. }: &Fragments, unit: Unit) -> u64 {
        let dense = match unit {
            Unit::Pixel => strips_with(pixels, DENSE_PIXELS),
            Unit::Quad => dense_strips(pixels, QUADS as u32),
        };
        if pixels & dense == 0 || !self.can_shade_group(place, &[pixels & dense]) {
            return 0;
        }
        self.shade_group((primitive, place), &[pixels & dense]);
        dense
    }

    /// Shades fragments of a group at once. [`Self::can_shade_group`] must have returned true for
    /// them.
    #[inline]
    fn shade_group(&mut self, (primitive, place): (PrimitiveId, [u32; 2]), masks: &[u64]) {
        // Queued quads may be in the same group, unless they come from the scoreboard.
        if !self.apart && self.quads[..self.queued].iter().any(|quad| quad.is_in_group(place)) {
            self.flush();
        }
        let words = self.view.words(primitive);
        let Some(groups) = self.groups(masks) else { return };
        let (stop, exported) = (groups.shade(words, place, masks), groups.exported());
        self.ok &= stop != Stop::Interrupted;
        if let Some(counters) = self.counters {
            let pixels = any_of(masks);
            let strips = match pixels {
                u64::MAX => 4,
                pixels => (0..4).filter(|strip| pixels >> (strip * 16) & 0xffff != 0).count() as u32,
            };
            let (lanes, runs) = (self.context.fragments_of(masks), self.context.runs_of(masks));
            count_exported(counters, lanes, exported.unwrap_or(lanes));
            count_waves(counters, place, strips * runs, lanes);
        }
    }

    /// Returns true if such fragments of the group at `place` can be shaded at once.
    #[inline]
    pub(super) fn can_shade_group(&mut self, place: [u32; 2], masks: &[u64]) -> bool {
        self.groups(masks).is_some_and(|groups| groups.has_lines(place))
    }

    /// Shades all pixels of the groups from `first` to `last`. Returns false if the draw cannot
    /// shade groups at once.
    pub(super) fn shade_groups(&mut self, primitive: PrimitiveId, first: [u32; 2], last: [u32; 2]) -> bool {
        let masks = &[u64::MAX; MAX_SAMPLES][..self.context.multisample.samples as usize];
        let have_lines = |groups: &mut GroupRunner<'s>| groups.has_lines(first) && groups.has_lines(last);
        if !self.groups(masks).is_some_and(have_lines) {
            return false;
        }
        if self.queued > 0 && !self.apart {
            self.flush();
        }
        if let Some(counters) = self.counters {
            (0..self.context.runs_of(masks)).for_each(|_| count_whole_groups(counters, [first, last]));
        }
        let words = self.view.words(primitive);
        let Some(groups) = self.groups(masks) else { return false };
        let rows = (first[1]..=last[1]).step_by(SIDE);
        let mut places = rows.flat_map(|y| (first[0]..=last[0]).step_by(SIDE).map(move |x| [x, y]));
        let ok = places.all(|place| groups.shade(words, place, masks) != Stop::Interrupted);
        self.ok &= ok;
        true
    }

    /// Returns the runner that shades fragments of a group at once. `masks` are the covered pixels
    /// of each sample.
    #[inline]
    fn groups(&mut self, masks: &[u64]) -> Option<&mut GroupRunner<'s>> {
        let (context, counts) = (self.context, self.counters.is_some());
        let is_whole = masks.iter().all(|&mask| mask == u64::MAX) && context.tests_early();
        let lazy = if is_whole { &mut self.whole } else { &mut self.groups };
        lazy.get(|wave| GroupRunner::new(context, (is_whole, counts), wave))
    }

    /// Shades one primitive's fragments in one group, with several samples a pixel.
    pub(super) fn shade_samples(&mut self, samples: &[Fragments]) {
        let mut masks = [0; MAX_SAMPLES];
        samples.iter().for_each(|fragments| masks[fragments.sample as usize] |= fragments.pixels);
        let Fragments { primitive, place, .. } = samples[0];
        self.shade((primitive, place), &masks[..self.context.multisample.samples as usize]);
    }

    /// Shades fragments of a primitive in a group as quads, which may share waves with others.
    fn shade_quads(&mut self, (primitive, [x, y]): (PrimitiveId, [u32; 2]), masks: &[u64]) {
        if self.context.rates.is_some() {
            return self.push_cells((primitive, [x, y]), masks, None);
        }
        if let &[pixels] = masks {
            return self.shade_strips((primitive, [x, y]), pixels);
        }
        let mut rest = any_of(masks);
        while rest != 0 {
            let first = rest.trailing_zeros() & !3;
            let [dx, dy] = pixel_of_bit(first);
            self.push(Quad::of_samples(primitive, [x + dx, y + dy], masks.iter().map(|mask| mask >> first & 15)));
            rest &= !(15 << first);
        }
    }

    /// Shades fragments of one sample a pixel. Two rows of a group form one wave if every quad has
    /// pixels.
    fn shade_strips(&mut self, (primitive, [x, y]): (PrimitiveId, [u32; 2]), pixels: u64) {
        let (mut rest, mut whole) = (pixels, None);
        while rest != 0 {
            let first = rest.trailing_zeros() / 16 * 16;
            let quad = |number: u32| {
                let [dx, dy] = pixel_of_bit(first + number * 4);
                Quad::of_pixels(primitive, [x + dx, y + dy], pixels >> (first + number * 4) & 15)
            };
            let quads: [Quad; QUADS] = [0, 1, 2, 3].map(quad);
            if quads.iter().all(|quad| quad.count() > 0) {
                match whole.take() {
                    Some(other) => self.push_pair([other, quads]),
                    None => whole = Some(quads),
                }
            } else {
                quads.into_iter().filter(|quad| quad.count() > 0).for_each(|quad| self.push(quad));
            }
            rest &= !(0xffff << first);
        }
        whole.into_iter().for_each(|quads| self.push_wave(quads));
    }

    /// Keeps the next quad as it was before its tests, while that quad may be queued.
    #[cold]
    pub(super) fn keep_untested(&mut self, quad: Quad) {
        if self.untested.len() == QUADS {
            self.untested.remove(0);
        }
        self.untested.push(quad);
    }

    /// Queues a quad for a wave.
    pub(super) fn push(&mut self, quad: Quad) {
        // Blending and interlocked memory accesses must see the results of the previous quad at
        // the same place.
        if self.combines && self.quads[..self.queued].iter().any(|queued| queued.is_at(&quad)) {
            self.flush();
        }
        self.quads[self.queued] = quad;
        self.queued += 1;
        if self.queued == QUADS {
            self.flush();
        }
    }

    /// Shades four quads of one primitive that have different places.
    fn push_wave(&mut self, quads: [Quad; QUADS]) {
        self.flush();
        self.run(quads, QUADS);
    }

    /// Shades two waves of one primitive whose quads all have different places.
    fn push_pair(&mut self, waves: [[Quad; QUADS]; 2]) {
        self.flush();
        match self.context.kernel(false).and_then(|kernel| kernel.pair.as_ref().map(|pair| (kernel, pair))) {
            Some((kernel, pair)) if self.context.tests_early() && !kernel.changes_coverage => {
                self.shade_pair(kernel, pair, &waves);
            }
            _ => waves.into_iter().for_each(|quads| self.run(quads, QUADS)),
        }
    }

    /// Counts a wave of quads.
    fn count(&self, quads: &[Quad]) {
        if let Some(counters) = self.counters {
            count_waves(counters, [quads[0].x, quads[0].y], 1, fragments_of(quads));
        }
    }

    fn shade_pair(&mut self, kernel: &Kernel, pair: &Stage, waves: &[[Quad; QUADS]; 2]) {
        waves.iter().for_each(|quads| self.count(quads));
        let (context, targets) = (self.context, &kernel.targets[..]);
        let words = self.words(&waves[0]);
        let view = self.view;
        let fragments = waves.each_ref().map(|quads| WaveFragments {
            context,
            quads,
            view,
            words,
            targets,
            sample: None,
            untested: &[],
        });
        let (program, wave) = (&pair.program, &mut *self.scratch.pair);
        // The program has no effects that helper lanes must not have.
        wave.start_linked(program, Mask::MAX, 0);
        let (inputs, outputs) = (program.inputs.len() / pair.waves, program.outputs.len() / pair.waves);
        for &(slot, source) in &pair.sources {
            fragments[slot / inputs].fill(source, &mut wave.inputs[slot]);
        }
        if wave.run(program, &environment(context, words[0])) == Stop::Interrupted {
            self.ok = false;
            return;
        }
        for (quads, outputs) in waves.iter().zip(wave.outputs.chunks_exact(outputs.max(1))) {
            targets.iter().for_each(|target| write(context, target, outputs, quads));
            if let Some(counters) = self.counters {
                count_exported(counters, fragments_of(quads), fragments_of(quads));
            }
        }
    }

    /// Shades and exports the queued quads.
    pub(super) fn flush(&mut self) {
        let count = std::mem::take(&mut self.queued);
        if count > 0 {
            self.run(self.quads, count);
        }
        if !self.cells.is_empty() {
            self.shade_cells();
        }
    }

    fn run(&mut self, quads: [Quad; QUADS], count: usize) {
        let first = quads[0].primitive;
        let packed = quads[1..count].iter().any(|quad| quad.primitive != first);
        let Some(kernel) = self.context.kernel(packed) else { return };
        if !self.context.shades_samples() {
            return self.shade_wave(kernel, quads, count, None);
        }
        for sample in 0..self.context.multisample.samples {
            let (quads, count) = quads_of_sample(&quads[..count], sample);
            self.shade_wave(kernel, quads, count, Some(sample));
        }
    }

    #[inline]
    fn shade_wave(&mut self, kernel: &Kernel, mut quads: [Quad; QUADS], count: usize, sample: Option<u32>) {
        let quads = &mut quads[..count];
        let lanes = (1u32 << (count * 4)) - 1;
        let covered = quads.iter().rev().fold(0, |bits, quad| bits << 4 | quad.pixels());
        if covered == 0 {
            return;
        }
        self.count(quads);
        let (context, targets) = (self.context, &kernel.targets[..]);
        let words = self.words(quads);
        let (view, untested) = (self.view, &self.untested[..]);
        let fragments = WaveFragments { context, quads, view, words, targets, sample, untested };
        let (program, wave) = (&kernel.shade.program, &mut *self.scratch.shade);
        wave.start_linked(program, lanes as Mask, (lanes & !covered) as Mask);
        for &(slot, source) in &kernel.shade.sources {
            fragments.fill(source, &mut wave.inputs[slot]);
        }
        if wave.run(program, &environment(context, words[0])) == Stop::Interrupted {
            self.ok = false;
            return;
        }
        if kernel.changes_coverage || wave.killed() != 0 || !context.tests_early() {
            for (number, quad) in quads.iter_mut().enumerate() {
                self.finish(kernel, quad, number * 4);
            }
        }
        if let Some(counters) = self.counters {
            count_exported(counters, covered.count_ones(), fragments_of(quads));
        }
        if kernel.export.is_some() {
            return export_samples(context, kernel, (&self.scratch.shade.outputs, &mut *self.scratch.export), quads);
        }
        for target in targets {
            write(context, target, &self.scratch.shade.outputs, quads);
        }
    }

    /// Returns the words of each quad's primitive.
    fn words(&self, quads: &[Quad]) -> [PrimitiveWords<'a>; QUADS] {
        let mut words = [PrimitiveWords::NONE; QUADS];
        for (words, quad) in words.iter_mut().zip(quads) {
            *words = self.view.words(quad.primitive);
        }
        words
    }

    /// Applies the program's changes of coverage to a quad and runs late tests.
    fn finish(&mut self, kernel: &Kernel, quad: &mut Quad, first_lane: usize) {
        let wave = &*self.scratch.shade;
        for pixel in 0..4 {
            let lane = first_lane + pixel;
            let mut mask = if wave.killed() >> lane & 1 != 0 { 0 } else { u32::MAX };
            if let Some(slot) = kernel.sample_mask {
                mask &= wave.outputs[slot][lane];
            }
            if let Some(slot) = kernel.alpha {
                mask &= alpha_coverage(f32::from_bits(wave.outputs[slot][lane]), self.context.multisample.samples);
            }
            quad.restrict(pixel, mask);
        }
        if !self.context.tests_early() {
            let words = |slot: usize| [0, 1, 2, 3].map(|pixel| wave.outputs[slot][first_lane + pixel]);
            let written = ShaderDepthStencil {
                depth: kernel.depth.map(|slot| words(slot).map(f32::from_bits)),
                stencil: kernel.stencil.map(words),
            };
            self.passed += quad.test(self.context, self.view, written);
        }
    }
}

/// Exports the colours of a wave that are combined with the stored texel of each sample.
///
/// `colors` are the output words of the shading program. `export` is the memory to run the export
/// program.
pub(super) fn export_samples(
    context: &DrawContext<'_>,
    kernel: &Kernel,
    (colors, export): (&[Lanes], &mut Wave),
    quads: &[Quad],
) {
    let stage = kernel.exporter();
    for sample in 0..context.multisample.samples {
        let mut of_sample = [Quad::default(); QUADS];
        for (of_sample, quad) in of_sample.iter_mut().zip(quads) {
            *of_sample = quad.of_sample(sample);
        }
        let (quads, targets) = (&of_sample[..quads.len()], &kernel.targets[..]);
        // Exports read no words of primitives.
        let (words, view) = ([PrimitiveWords::NONE; QUADS], &TileView::NONE);
        let fragments = WaveFragments { context, quads, view, words, targets, sample: Some(sample), untested: &[] };
        export.start_linked(&stage.program, Mask::MAX, 0);
        for &(slot, source) in &stage.sources {
            match source {
                KernelInput::Output(output) => export.inputs[slot] = colors[output],
                source => fragments.fill(source, &mut export.inputs[slot]),
            }
        }
        // The export program has no loops, so nothing can interrupt it.
        export.run(&stage.program, &Environment::new(context.bindings, context.deadline));
        for target in targets {
            write(context, target, &export.outputs, quads);
        }
    }
}

/// Returns the quads in which a sample is covered, reduced to that sample, and their number. Other
/// quads have no invocations, not even helpers.
fn quads_of_sample(quads: &[Quad], sample: u32) -> ([Quad; QUADS], usize) {
    let (mut covered, mut count) = ([Quad::default(); QUADS], 0);
    for quad in quads.iter().map(|quad| quad.of_sample(sample)).filter(|quad| quad.count() > 0) {
        covered[count] = quad;
        count += 1;
    }
    (covered, count)
}

/// Returns the environment in which a wave runs, with the words of its primitive as parameters.
pub(super) fn environment<'e>(context: &'e DrawContext<'_>, words: PrimitiveWords<'e>) -> Environment<'e> {
    Environment {
        parameters: words.parameters(),
        push: context.push,
        ..Environment::new(context.bindings, context.deadline)
    }
}

/// Minimum number of quads in two rows of a group to shade them without packing. Packing them
/// would cost more than idle lanes.
const DENSE: u32 = 3;

/// Returns the pixels of the strips of a group that have at least `count` covered quads. A strip is
/// two rows.
fn dense_strips(pixels: u64, count: u32) -> u64 {
    strips_with((pixels | pixels >> 1 | pixels >> 2 | pixels >> 3) & 0x1111_1111_1111_1111, count)
}

/// Returns the strips of a group of which at least `count` bits are set. A strip is two rows.
fn strips_with(bits: u64, count: u32) -> u64 {
    let in_each = |bits: u16| u64::MAX / u64::from(u16::MAX) * u64::from(bits);
    let pairs = bits - (bits >> 1 & in_each(0x5555));
    let nibbles = (pairs & in_each(0x3333)) + (pairs >> 2 & in_each(0x3333));
    let bytes = (nibbles + (nibbles >> 4)) & in_each(0x0f0f);
    let sums = (bytes + (bytes >> 8)) & in_each(0xff);
    // The highest bit of each strip tells if its sum reaches the count.
    let reached = (sums + in_each(0x8000 - count as u16)) & in_each(0x8000);
    (reached >> 15) * u64::from(u16::MAX)
}

/// Minimum number of pixels in two rows of a group to shade them without packing, if single pixels
/// can be packed.
const DENSE_PIXELS: u32 = 12;

/// Counts the waves of fully shaded and exported groups in the rectangle from the first to the
/// last group.
fn count_whole_groups(counters: &TileCounters, places: [[u32; 2]; 2]) {
    counters.count(Counter::Exported, groups_between(places) * 64);
    counters.mark_all(Map::Waves, places, 4);
    counters.mark_all(Map::Lanes, places, 64);
}

/// Returns the number of fragments in some quads.
fn fragments_of(quads: &[Quad]) -> u32 {
    quads.iter().map(|quad| quad.pixels().count_ones()).sum()
}

/// Returns a mask of the first samples, in proportion to alpha.
pub(super) fn alpha_coverage(alpha: f32, samples: u32) -> u32 {
    let count = (within(alpha, 0.0, 1.0) * samples as f32 + 0.5) as u32;
    (1 << count) - 1
}

/// Writes the texels of a wave's quads to the covered samples of an attachment.
pub(super) fn write(context: &DrawContext<'_>, target: &Target, outputs: &[Lanes], quads: &[Quad]) {
    let Some(plane) = context.color(target) else { return };
    let words = &outputs[target.first_word..];
    if target.bytes == 4 {
        let is_strip =
            plane.samples() == 1 && Quad::are_strip(quads) && plane.write_strip(quads[0].x, quads[0].y, 0, &words[0]);
        for (quad, words) in quads.iter().zip(words[0].as_chunks::<4>().0).filter(|_| !is_strip) {
            for sample in 0..plane.samples() {
                plane.write_quad(quad.x, quad.y, sample, words, quad.pixels_at(sample));
            }
        }
        return;
    }
    for (number, quad) in quads.iter().enumerate().take(WAVE / 4) {
        let quad = (quad, number);
        match target.bytes {
            8 => write_quad_of::<8>(plane, quad, words),
            16 => write_quad_of::<16>(plane, quad, words),
            bytes => write_quad(bytes, plane, quad, words),
        }
    }
}

/// Writes the texels of one quad of a wave to the covered samples. A texel has `bytes` bytes.
#[inline(always)]
fn write_quad(bytes: usize, plane: &PlaneRef<'_>, (quad, number): (&Quad, usize), words: &[Lanes]) {
    let texels = &quad_texels(bytes, words, number)[..4 * bytes];
    plane.write_quad_samples([quad.x, quad.y], texels, |sample| quad.pixels_at(sample));
}

/// Calls [`write_quad`] with a texel size that is known at compile time.
fn write_quad_of<const BYTES: usize>(plane: &PlaneRef<'_>, quad: (&Quad, usize), words: &[Lanes]) {
    write_quad(BYTES, plane, quad, words);
}

/// Returns the texels of a quad, one after the other.
#[inline(always)]
fn quad_texels(bytes: usize, words: &[Lanes], number: usize) -> [u8; 64] {
    let mut texels = [0; 64];
    for (first, words) in (0..bytes).step_by(4).zip(words) {
        let length = (bytes - first).min(4);
        let of_quad = words.as_chunks::<4>().0[number];
        for (texel, word) in texels.chunks_exact_mut(bytes).zip(of_quad) {
            texel[first..first + length].copy_from_slice(&word.to_le_bytes()[..length]);
        }
    }
    texels
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn strips_are_chosen_by_their_bits(some: u64, others: u64, count in 1u32..17) {
            for bits in [some, some & others, some | others] {
                let strips = (0..4).map(|strip| 0xffff << (strip * 16));
                let chosen = strips.filter(|strip| (bits & strip).count_ones() >= count);
                prop_assert_eq!(strips_with(bits, count), chosen.fold(0, |chosen, strip| chosen | strip));
            }
        }
    }
}
