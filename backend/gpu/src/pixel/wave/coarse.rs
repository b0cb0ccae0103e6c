//! Fragments that span several pixels. They are shaded once, in quads of four fragments, and their
//! colour applies to all their pixels.
//!
//! Coverage, early tests and the scoreboard work on pixels and samples of a group. The remaining
//! samples of a group are then combined into cells of four fragments. After the program, late
//! tests, blending and writes work on pixels again.
//!
//! If a density map sets the sizes, the pixels of a fragment share one set of samples. The program
//! reads a sample as covered if it is in any pixel, and omits a sample in all pixels. Only covered
//! samples of pixels are tested and written. Source: Vulkan specification, "Fragment Shading
//! Rates", "Fragment Density Map Operations", "Multisampling", "Coverage Reduction".

use smallvec::SmallVec;
use vitric_base::counters::{Counter, count};
use vitric_base::simd::{Lanes, Mask, WAVE};
use vitric_exec::interp::Stop;
use vitric_memory::PlaneRef;

use super::{Waves, alpha_coverage, environment, export_samples, quad_texels};
use crate::geometry::PrimitiveWords;
use crate::pixel::counting::{count_exported, count_waves};
use crate::pixel::depths::sample_place;
use crate::pixel::kernel::{Kernel, KernelInput};
use crate::pixel::quad::{MAX_SAMPLES, QUADS, Quad, ShaderDepthStencil};
use crate::pixel::{PixelContext, PrimitiveId, Rates, any_of};
use crate::raster::{Rate, group_of_pixel, pixel_of_bit};

/// A quad of two by two fragments of a primitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cells {
    primitive: PrimitiveId,
    /// First pixel of the first fragment.
    place: [u32; 2],
    rate: Rate,
    /// Samples of a pixel.
    samples: u32,
    /// Covered pixels of each sample, as bits of a group whose first pixel is `place`.
    masks: [u64; MAX_SAMPLES],
    /// Covered samples of each fragment before tests, if the program reads that coverage.
    untested: Option<[u32; 4]>,
}

/// Place of a quad of pixels in [`Cells`].
struct QuadPlace {
    /// First pixel.
    place: [u32; 2],
    /// Bit of the first pixel in the masks.
    first: u32,
    /// Number of each pixel's fragment.
    fragments: [usize; 4],
}

impl Cells {
    /// Returns the cells with covered samples in the group at `[x, y]`. `masks` are the covered
    /// pixels of each sample.
    fn of_group<'m>(
        (primitive, [x, y]): (PrimitiveId, [u32; 2]),
        rate: Rate,
        masks: &'m [u64],
        untested: Option<&'m [u64]>,
    ) -> impl Iterator<Item = Self> + 'm {
        let area = rate.areas().iter().fold(0, |all, area| all | area);
        let [width, height] = rate.size().map(|pixels| pixels * 2);
        let mut rest = any_of(masks);
        std::iter::from_fn(move || {
            let [dx, dy] = (rest != 0).then(|| pixel_of_bit(rest.trailing_zeros()))?;
            let place = [x + dx / width * width, y + dy / height * height];
            let first = group_of_pixel(place).1;
            rest &= !(area << first);
            let within = |masks: &[u64]| {
                let mut within = [0; MAX_SAMPLES];
                within.iter_mut().zip(masks).for_each(|(within, mask)| *within = mask >> first & area);
                within
            };
            let samples = masks.len() as u32;
            let of = |masks| Self { primitive, place, rate, samples, masks: within(masks), untested: None };
            let untested = untested.map(|masks| [0, 1, 2, 3].map(|cell| of(masks).coverage(cell)));
            Some(Self { untested, ..of(masks) })
        })
    }

    /// Returns the covered pixels of each sample.
    fn masks(&self) -> &[u64] {
        &self.masks[..self.samples as usize]
    }

    fn masks_mut(&mut self) -> &mut [u64] {
        &mut self.masks[..self.samples as usize]
    }

    /// Returns the fragments that have covered samples, as bits.
    fn covered(&self) -> u32 {
        let any = any_of(self.masks());
        (0..).zip(self.rate.areas()).fold(0, |bits, (cell, area)| bits | u32::from(any & area != 0) << cell)
    }

    /// Returns the covered samples of a fragment. The lowest bits belong to the last pixel.
    fn coverage(&self, cell: usize) -> u32 {
        let area = self.rate.areas()[cell];
        if self.masks().iter().all(|mask| mask & area == area) {
            return self.rate.all_samples(self.samples);
        }
        let bits =
            (0..).zip(self.masks()).flat_map(|(sample, mask)| set_bits(mask & area).map(move |bit| (sample, bit)));
        bits.fold(0, |coverage, (sample, bit)| coverage | 1 << (self.first_sample(bit) + sample))
    }

    /// Removes covered samples of a fragment that are not in `kept`.
    fn keep(&mut self, cell: usize, kept: u32) {
        let area = self.rate.areas()[cell];
        for sample in 0..self.samples {
            let mask = self.masks[sample as usize];
            let removed = set_bits(mask & area).filter(|&bit| kept >> (self.first_sample(bit) + sample) & 1 == 0);
            self.masks[sample as usize] = removed.fold(mask, |mask, bit| mask & !(1 << bit));
        }
    }

    /// Returns the number of the first sample of a bit's pixel in the coverage of its fragment.
    fn first_sample(&self, bit: u32) -> u32 {
        let (_, within) = self.rate.cell_of(pixel_of_bit(bit));
        self.rate.first_bit(within, self.samples)
    }

    /// Returns the first pixel of a fragment along an axis.
    fn first(&self, cell: usize, axis: usize) -> u32 {
        self.place[axis] + (cell as u32 >> axis & 1) * self.rate.size()[axis]
    }

    /// Returns the position in a fragment, in pixels, at which centroid inputs are evaluated.
    fn centroid(&self, cell: usize, locations: &[[i64; 2]]) -> [f32; 2] {
        let coverage = self.coverage(cell);
        if coverage == 0 || coverage == self.rate.all_samples(self.samples) {
            return self.centre();
        }
        // This is the first covered sample of the first pixel that has any.
        let ([x, y], _) = self.rate.sample_of_bit(coverage.ilog2(), self.samples);
        let sample = (coverage >> self.rate.first_bit([x, y], self.samples)).trailing_zeros();
        let [in_x, in_y] = sample_place(locations, sample);
        [x as f32 + in_x, y as f32 + in_y]
    }

    fn centre(&self) -> [f32; 2] {
        self.rate.size().map(|pixels| pixels as f32 * 0.5)
    }

    /// Returns the quads of pixels that have covered samples.
    fn quads(&self) -> impl Iterator<Item = QuadPlace> + use<> {
        let (rate, [x, y], mut rest) = (self.rate, self.place, any_of(self.masks()));
        std::iter::from_fn(move || {
            let first = (rest != 0).then(|| rest.trailing_zeros() & !3)?;
            rest &= !(15 << first);
            let [dx, dy] = pixel_of_bit(first);
            let fragments = [[dx, dy], [dx + 1, dy], [dx, dy + 1], [dx + 1, dy + 1]].map(|pixel| {
                let ([across, down], _) = rate.cell_of(pixel);
                (down * 2 + across) as usize
            });
            Some(QuadPlace { place: [x + dx, y + dy], first, fragments })
        })
    }

    /// Returns a quad of pixels with its covered samples.
    fn quad(&self, at: &QuadPlace) -> Quad {
        Quad::of_samples(self.primitive, at.place, self.masks().iter().map(|mask| mask >> at.first & 15))
    }
}

/// Returns the numbers of the bits that are set.
fn set_bits(mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (bits != 0).then(|| bits.trailing_zeros())?;
        bits &= bits - 1;
        Some(bit)
    })
}

/// Fills an input word of a wave of cells.
fn fill(
    context: &PixelContext<'_>,
    cells: &[Cells],
    words: &[PrimitiveWords<'_>; QUADS],
    source: KernelInput,
    lanes: &mut Lanes,
) {
    match source {
        KernelInput::Pixel(axis) => each(lanes, cells, |cells, cell| (cells.first(cell, axis) as f32).to_bits()),
        KernelInput::Centre(axis) => each(lanes, cells, |cells, _| cells.centre()[axis].to_bits()),
        KernelInput::Centroid(axis) => {
            each(lanes, cells, |cells, cell| cells.centroid(cell, &context.locations)[axis].to_bits());
        }
        KernelInput::Primitive(word) => {
            let of_quads = lanes.as_chunks_mut::<4>().0.iter_mut().zip(words).take(cells.len());
            of_quads.for_each(|(lanes, words)| *lanes = [words.get(word); 4]);
        }
        KernelInput::SampleArea(axis) => each(lanes, cells, |cells, _| {
            let pixels = if has_shared_samples(context) { cells.rate.size()[axis] } else { 1 };
            (pixels as f32).to_bits()
        }),
        KernelInput::Coverage => each(lanes, cells, |cells, cell| match cells.coverage(cell) {
            0 => 0,
            coverage => {
                let coverage = cells.untested.map_or(coverage, |untested| untested[cell]);
                match has_shared_samples(context) {
                    true => cells.rate.of_any_pixel(coverage, cells.samples),
                    false => coverage,
                }
            }
        }),
        KernelInput::Helper => {
            let covered = covered(cells);
            lanes.iter_mut().enumerate().for_each(|(number, lane)| *lane = covered >> number & 1 ^ 1);
        }
        KernelInput::Rate => each(lanes, cells, |cells, _| cells.rate.word()),
        // The other inputs belong to other kernels or are equal in all lanes.
        _ => lanes.fill(0),
    }
}

/// Returns true if the pixels of a fragment share one set of samples.
fn has_shared_samples(context: &PixelContext<'_>) -> bool {
    context.rates.as_ref().is_some_and(Rates::has_shared_samples)
}

/// Fills a word of each fragment.
#[inline]
fn each(lanes: &mut Lanes, cells: &[Cells], word: impl Fn(&Cells, usize) -> u32) {
    for (lanes, cells) in lanes.as_chunks_mut::<4>().0.iter_mut().zip(cells) {
        for (cell, lane) in lanes.iter_mut().enumerate() {
            *lane = word(cells, cell);
        }
    }
}

/// Returns the fragments of a wave that have covered samples, as bits.
fn covered(cells: &[Cells]) -> u32 {
    cells.iter().rev().fold(0, |bits, cells| bits << 4 | cells.covered())
}

/// Queue of quads to export together, with the lane of the shaded wave that holds each pixel's
/// fragment.
#[derive(Default)]
struct Exported {
    quads: SmallVec<[Quad; QUADS]>,
    lanes: [usize; WAVE],
}

impl Waves<'_, '_> {
    /// Queues fragments of a primitive in a group.
    ///
    /// `masks` are the covered pixels of each sample. `untested` are the same masks before tests,
    /// if the program reads that coverage.
    #[cold]
    pub(in crate::pixel) fn push_cells(
        &mut self,
        (primitive, place): (PrimitiveId, [u32; 2]),
        masks: &[u64],
        untested: Option<&[u64]>,
    ) {
        let Some(rates) = &self.context.rates else { return };
        let rate = rates.at(self.view.words(primitive), place);
        for cells in Cells::of_group((primitive, place), rate, masks, untested) {
            self.cells.push(cells);
            if self.cells.len() == QUADS {
                self.shade_cells();
            }
        }
    }

    /// Shades and exports the queued cells.
    #[cold]
    pub(in crate::pixel) fn shade_cells(&mut self) {
        let mut cells = std::mem::take(&mut self.cells);
        let Some(kernel) = self.context.coarse_kernel() else { return };
        if !self.run_cells(kernel, &cells) {
            self.ok = false;
            return;
        }
        let shaded = self.counters.map(|_| covered(&cells).count_ones());
        self.cut(kernel, &mut cells);
        if !self.context.tests_early() {
            (0..).zip(&mut cells).for_each(|(number, cells)| self.test_cells(kernel, number, cells));
        }
        match kernel.export {
            Some(_) => self.blend_cells(kernel, &cells),
            None => self.write_cells(kernel, &cells),
        }
        if let (Some(counters), Some(shaded)) = (self.counters, shaded) {
            count_exported(counters, shaded, covered(&cells).count_ones());
        }
    }

    /// Runs late tests of a quad of fragments, and removes samples that fail. `number` is its
    /// position in the wave.
    fn test_cells(&mut self, kernel: &Kernel, number: usize, cells: &mut Cells) {
        if self.context.tests.is_none() {
            self.passed += cells.masks().iter().map(|mask| u64::from(mask.count_ones())).sum::<u64>();
            return;
        }
        for at in cells.quads() {
            let mut quad = cells.quad(&at);
            let lanes = at.fragments.map(|fragment| number * 4 + fragment);
            self.passed += quad.test(self.context, self.view, self.written(kernel, lanes));
            for (sample, mask) in (0..).zip(cells.masks_mut()) {
                *mask = *mask & !(15 << at.first) | u64::from(quad.pixels_at(sample)) << at.first;
            }
        }
    }

    /// Returns the values that the program wrote for the tests of a quad. `lanes` are those of its
    /// pixels.
    fn written(&self, kernel: &Kernel, lanes: [usize; 4]) -> ShaderDepthStencil {
        let words = |slot: usize| lanes.map(|lane| self.scratch.shade.outputs[slot][lane]);
        ShaderDepthStencil {
            depth: kernel.depth.map(|slot| words(slot).map(f32::from_bits)),
            stencil: kernel.stencil.map(words),
        }
    }

    /// Runs the program. Returns false if it was interrupted.
    fn run_cells(&mut self, kernel: &Kernel, cells: &[Cells]) -> bool {
        let (context, program, wave) = (self.context, &kernel.shade.program, &mut *self.scratch.shade);
        let lanes = (1u32 << (cells.len() * 4)) - 1;
        let covered = covered(cells);
        let mut words = [PrimitiveWords::NONE; QUADS];
        for (words, cells) in words.iter_mut().zip(cells) {
            *words = self.view.words(cells.primitive);
        }
        count(self.counters, Counter::Fragments, covered.count_ones().into());
        if let Some(counters) = self.counters {
            count_waves(counters, cells[0].place, 1, covered.count_ones());
        }
        wave.start_linked(program, lanes as Mask, (lanes & !covered) as Mask);
        for &(slot, source) in &kernel.shade.sources {
            match source {
                KernelInput::BlendConstant(component) => {
                    wave.inputs[slot].fill(context.blend_constants[component].to_bits());
                }
                KernelInput::FullyCovered => each(&mut wave.inputs[slot], cells, |cells, cell| {
                    let place = [0, 1].map(|axis| cells.first(cell, axis));
                    let covers = || self.view.covers_fully(cells.primitive, place, cells.rate.size());
                    u32::from(context.is_conservative() && covers())
                }),
                source => fill(context, cells, &words, source, &mut wave.inputs[slot]),
            }
        }
        wave.run(program, &environment(context, words[0])) != Stop::Interrupted
    }

    /// Removes coverage that the program discarded or masked out.
    fn cut(&self, kernel: &Kernel, cells: &mut [Cells]) {
        let (shade, samples) = (&*self.scratch.shade, self.context.multisample.samples);
        for lane in 0..cells.len() * 4 {
            let (cells, cell) = (&mut cells[lane / 4], lane % 4);
            if shade.killed() >> lane & 1 != 0 {
                cells.keep(cell, 0);
            }
            if let Some(slot) = kernel.sample_mask {
                let mask = shade.outputs[slot][lane];
                let kept = match has_shared_samples(self.context) {
                    true => cells.rate.of_every_pixel(mask & Rate::PIXEL.all_samples(samples), samples),
                    false => mask,
                };
                cells.keep(cell, kept);
            }
            if let Some(slot) = kernel.alpha {
                let mask = alpha_coverage(f32::from_bits(shade.outputs[slot][lane]), samples);
                cells.keep(cell, cells.rate.of_every_pixel(mask, samples));
            }
        }
    }

    /// Writes the colours of fragments to their covered samples.
    fn write_cells(&self, kernel: &Kernel, cells: &[Cells]) {
        for target in &kernel.targets {
            let Some(plane) = self.context.color(target) else { continue };
            let words = &self.scratch.shade.outputs[target.first_word..];
            match target.bytes {
                4 => write_cells_of::<4>(plane, cells, words),
                8 => write_cells_of::<8>(plane, cells, words),
                16 => write_cells_of::<16>(plane, cells, words),
                bytes => write_cells(bytes, plane, cells, words),
            }
        }
    }

    /// Exports the colours of fragments, which are combined with stored texels.
    fn blend_cells(&mut self, kernel: &Kernel, cells: &[Cells]) {
        let mut exported = Exported::default();
        for (number, cells) in cells.iter().enumerate() {
            for at in cells.quads() {
                let quad = cells.quad(&at);
                // Blending must see the result of the previous quad at the same place.
                let is_there = exported.quads.iter().any(|queued| queued.is_at(&quad));
                if is_there || exported.quads.len() == QUADS {
                    self.export(kernel, &mut exported);
                }
                let lanes = exported.lanes.as_chunks_mut::<4>().0;
                lanes[exported.quads.len()] = at.fragments.map(|fragment| number * 4 + fragment);
                exported.quads.push(quad);
            }
        }
        self.export(kernel, &mut exported);
    }

    /// Exports quads of pixels with the colours of their fragments.
    fn export(&mut self, kernel: &Kernel, exported: &mut Exported) {
        let quads = std::mem::take(&mut exported.quads);
        if !quads.is_empty() {
            let outputs = self.scratch.shade.outputs.iter();
            let colors: SmallVec<[Lanes; 8]> = outputs.map(|words| gathered(words, &exported.lanes)).collect();
            export_samples(self.context, kernel, (&colors, &mut *self.scratch.export), &quads);
        }
    }
}

/// Writes the texels of a wave's fragments to their covered samples. A texel has `bytes` bytes.
#[inline(always)]
fn write_cells(bytes: usize, plane: &PlaneRef<'_>, cells: &[Cells], words: &[Lanes]) {
    for (number, cells) in cells.iter().enumerate() {
        let of_fragments = quad_texels(bytes, words, number);
        for at in cells.quads() {
            let mut texels = [0; 64];
            for (texel, fragment) in texels.chunks_exact_mut(bytes).zip(at.fragments) {
                texel.copy_from_slice(&of_fragments[fragment * bytes..][..bytes]);
            }
            let pixels_at = |sample: u32| (cells.masks[sample as usize] >> at.first) as u32 & 15;
            plane.write_quad_samples(at.place, &texels[..4 * bytes], pixels_at);
        }
    }
}

/// Calls [`write_cells`] with a texel size that is known at compile time.
fn write_cells_of<const BYTES: usize>(plane: &PlaneRef<'_>, cells: &[Cells], words: &[Lanes]) {
    write_cells(BYTES, plane, cells, words);
}

/// Returns the words of some lanes.
fn gathered(words: &Lanes, lanes: &[usize; WAVE]) -> Lanes {
    let mut gathered = [0; WAVE];
    for (word, lane) in gathered.iter_mut().zip(lanes) {
        *word = words[lane % WAVE];
    }
    gathered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raster::sample_positions;

    /// Checks that every pixel and sample of a group belongs to one fragment and survives the
    /// conversion to quads.
    #[test]
    fn groups_are_cells_and_cells_are_quads() {
        for (rate, samples) in Rate::ALL.into_iter().flat_map(|rate| [1, 2, 4].map(|samples| (rate, samples))) {
            if !rate.supports(samples) {
                continue;
            }
            let masks: Vec<u64> =
                (1..=samples).map(|sample| 0x9e37_79b9_7f4a_7c15u64.wrapping_mul(u64::from(sample))).collect();
            let mut found = vec![0; masks.len()];
            for cells in Cells::of_group((3, [16, 8]), rate, &masks, None) {
                for quad in cells.quads().map(|at| cells.quad(&at)) {
                    let ([x, y], bit) = group_of_pixel([quad.x, quad.y]);
                    assert_eq!(([x, y], quad.primitive), ([16, 8], 3));
                    for (sample, found) in (0..).zip(&mut found) {
                        *found |= u64::from(quad.pixels_at(sample)) << bit;
                    }
                }
            }
            assert_eq!(found, masks, "{rate:?}, {samples} samples");
        }
    }

    #[test]
    fn pixels_know_their_fragments() {
        let [cells] = Cells::of_group((0, [0, 0]), Rate::of_size([4, 4]), &[1], None).collect::<Vec<_>>()[..] else {
            panic!()
        };
        let one = sample_positions(1);
        assert_eq!([0, 1, 2, 3].map(|cell| cells.coverage(cell)), [1 << 15, 0, 0, 0]);
        assert_eq!((cells.covered(), cells.first(3, 0), cells.first(2, 1)), (1, 4, 4));
        assert_eq!((cells.centroid(0, one), cells.centroid(1, one)), ([0.5; 2], [2.0; 2]));
        let whole = Cells::of_group((0, [0, 0]), Rate::of_size([4, 4]), &[u64::MAX], None).next().unwrap();
        let fragments: Vec<_> = whole.quads().map(|quad| quad.fragments[0]).collect();
        assert_eq!(fragments, [0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3]);
        let cells = Cells::of_group((0, [0, 0]), Rate::of_size([2, 1]), &[1, 2, 3, 0], None).next().unwrap();
        assert_eq!((cells.coverage(0), cells.centroid(0, sample_positions(4))), (0b0101_0110, [0.375, 0.125]));
        assert_eq!(cells.quads().next().unwrap().fragments, [0, 0, 2, 2]);
    }

    #[test]
    fn fragments_keep_some_of_their_samples() {
        for (rate, samples) in [([2, 2], 4), ([4, 1], 2), ([1, 2], 16)] {
            let (rate, masks) = (Rate::of_size(rate), vec![u64::MAX; samples]);
            for kept in [0, 0x8421_7bde, u32::MAX] {
                let mut cells = Cells::of_group((0, [8, 0]), rate, &masks, None).next().unwrap();
                let all = cells.coverage(0);
                cells.keep(2, kept);
                let expected = [0, 1, 2, 3].map(|cell| if cell == 2 { all & kept } else { all });
                assert_eq!([0, 1, 2, 3].map(|cell| cells.coverage(cell)), expected, "{rate:?}, {samples} samples");
                assert_eq!(cells.covered(), if kept == 0 { 0b1011 } else { 0b1111 });
            }
        }
    }
}
