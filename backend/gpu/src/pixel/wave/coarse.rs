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

use super::{Waves, alpha_coverage, environment, export_samples, write};
use crate::geometry::PrimitiveWords;
use crate::pixel::counting::{count_exported, count_waves};
use crate::pixel::depths::sample_place;
use crate::pixel::kernel::{Kernel, KernelInput};
use crate::pixel::quad::{QUADS, Quad, ShaderDepthStencil};
use crate::pixel::{PixelContext, PrimitiveId, Rates};
use crate::raster::{Rate, SIDE, group_of_pixel, pixel_of_bit};

/// A quad of two by two fragments of a primitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cells {
    primitive: PrimitiveId,
    /// First pixel of the first fragment.
    place: [u32; 2],
    rate: Rate,
    /// Samples of a pixel.
    samples: u32,
    /// Covered samples of each fragment. The lowest bits belong to the last pixel.
    coverage: [u32; 4],
    /// Covered samples of each fragment before tests, if the program reads that coverage.
    untested: Option<[u32; 4]>,
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
        let ([width, height], side) = (rate.size().map(|pixels| pixels * 2), SIDE as u32);
        let any = masks.iter().fold(0, |any, mask| any | mask);
        let places = (0..side).step_by(height as usize).flat_map(move |dy| {
            let row = (0..side).step_by(width as usize);
            row.map(move |dx| [x + dx, y + dy])
        });
        places.filter_map(move |place| {
            let bare = Self { primitive, place, rate, samples: masks.len() as u32, coverage: [0; 4], untested: None };
            (any >> bare.first_bit() & bare.area() != 0).then(|| Self {
                coverage: bare.covered(masks),
                untested: untested.map(|masks| bare.covered(masks)),
                ..bare
            })
        })
    }

    /// Returns the cell's pixels as bits of a group, as if the cell were the first one of the
    /// group.
    fn area(&self) -> u64 {
        let [width, height] = self.rate.size();
        // A strip has `width` adjacent quads, and the cell spans `height` strips.
        let strip = (1 << (width * 4)) - 1;
        (0..height).fold(0, |area, number| area | strip << (number * 16))
    }

    /// Returns the bit of the first pixel in its group.
    fn first_bit(&self) -> u32 {
        group_of_pixel(self.place).1
    }

    /// Returns the covered samples of each fragment from the covered pixels of each sample.
    fn covered(&self, masks: &[u64]) -> [u32; 4] {
        let (area, first) = (self.area(), self.first_bit());
        if masks.iter().all(|mask| mask >> first & area == area) {
            return [self.rate.all_samples(self.samples); 4];
        }
        let mut coverage = [0; 4];
        for (sample, mask) in (0..).zip(masks) {
            let mut rest = mask >> first & area;
            while rest != 0 {
                let (cell, first) = self.pixel(pixel_of_bit(rest.trailing_zeros()));
                coverage[cell] |= 1 << (first + sample);
                rest &= rest - 1;
            }
        }
        coverage
    }

    /// Returns the fragment of a pixel at an offset from the first pixel, and the number of its
    /// first sample in the fragment's coverage.
    #[inline]
    fn pixel(&self, place: [u32; 2]) -> (usize, u32) {
        let ([across, down], within) = self.rate.cell_of(place);
        ((down * 2 + across) as usize, self.rate.first_bit(within, self.samples))
    }

    /// Returns the first pixel of a fragment along an axis.
    fn first(&self, cell: usize, axis: usize) -> u32 {
        self.place[axis] + (cell as u32 >> axis & 1) * self.rate.size()[axis]
    }

    /// Returns the position in a fragment, in pixels, at which centroid inputs are evaluated.
    fn centroid(&self, cell: usize, locations: &[[i64; 2]]) -> [f32; 2] {
        let coverage = self.coverage[cell];
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

    /// Returns the quads of pixels in the cell, with the number of each pixel's fragment.
    fn quads(&self) -> impl Iterator<Item = (Quad, [usize; 4])> {
        let [width, height] = self.rate.size().map(|pixels| pixels * 2);
        let starts = (0..height).step_by(2).flat_map(move |y| (0..width).step_by(2).map(move |x| [x, y]));
        starts.map(move |[x, y]| {
            let pixels = [[x, y], [x + 1, y], [x, y + 1], [x + 1, y + 1]].map(|place| self.pixel(place));
            let mask = (1 << self.samples) - 1;
            let coverage = pixels.map(|(cell, first)| self.coverage[cell] >> first & mask);
            let quad = Quad::new(self.primitive, [self.place[0] + x, self.place[1] + y], coverage);
            (quad, pixels.map(|(cell, _)| cell))
        })
    }
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
        KernelInput::Coverage => each(lanes, cells, |cells, cell| match cells.coverage[cell] {
            0 => 0,
            coverage => {
                let coverage = cells.untested.map_or(coverage, |untested| untested[cell]);
                match has_shared_samples(context) {
                    true => cells.rate.of_any_pixel(coverage, cells.samples),
                    false => coverage,
                }
            }
        }),
        KernelInput::Helper => each(lanes, cells, |cells, cell| u32::from(cells.coverage[cell] == 0)),
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
    let fragments = cells.iter().flat_map(|cells| cells.coverage);
    fragments.rev().fold(0, |bits, coverage| bits << 1 | u32::from(coverage != 0))
}

/// Queue of quads to export together, with the lane of the shaded wave that holds each pixel's
/// fragment.
#[derive(Default)]
struct Exported {
    quads: SmallVec<[Quad; QUADS]>,
    lanes: [usize; WAVE],
    /// Lanes whose fragment exported any sample.
    fragments: u32,
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
        let mut exported = Exported::default();
        for (number, cells) in cells.iter().enumerate() {
            for (mut quad, of_pixels) in cells.quads() {
                let lanes = of_pixels.map(|cell| number * 4 + cell);
                if !self.context.tests_early() {
                    self.passed += quad.test(self.context, self.view, self.written(kernel, lanes));
                }
                if quad.count() > 0 {
                    self.push_exported(kernel, (quad, lanes), &mut exported);
                }
            }
        }
        self.export_cells(kernel, &mut exported);
        if let (Some(counters), Some(shaded)) = (self.counters, shaded) {
            count_exported(counters, shaded, exported.fragments.count_ones());
        }
    }

    /// Returns the values that the program wrote for the tests of a quad. `lanes` are those of its
    /// pixels.
    fn written(&self, kernel: &Kernel, lanes: [usize; 4]) -> ShaderDepthStencil {
        let shade = &self.scratch.shade.outputs;
        let words = |slot: usize| lanes.map(|lane| shade[slot][lane]);
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
        for (number, cells) in cells.iter_mut().enumerate() {
            for (cell, coverage) in cells.coverage.iter_mut().enumerate() {
                let lane = number * 4 + cell;
                if shade.killed() >> lane & 1 != 0 {
                    *coverage = 0;
                }
                if let Some(slot) = kernel.sample_mask {
                    let mask = shade.outputs[slot][lane];
                    *coverage &= match has_shared_samples(self.context) {
                        true => cells.rate.of_every_pixel(mask & Rate::PIXEL.all_samples(samples), samples),
                        false => mask,
                    };
                }
                if let Some(slot) = kernel.alpha {
                    let mask = alpha_coverage(f32::from_bits(shade.outputs[slot][lane]), samples);
                    *coverage &= cells.rate.of_every_pixel(mask, samples);
                }
            }
        }
    }

    fn push_exported(&mut self, kernel: &Kernel, (quad, lanes): (Quad, [usize; 4]), exported: &mut Exported) {
        // Blending must see the result of the previous quad at the same place.
        let is_there = self.combines && exported.quads.iter().any(|queued| queued.is_at(&quad));
        if is_there || exported.quads.len() == QUADS {
            self.export_cells(kernel, exported);
        }
        let first = exported.quads.len() * 4;
        exported.lanes[first..first + 4].copy_from_slice(&lanes);
        let fragments = (0..4).filter(|&pixel| quad.samples(pixel) != 0).map(|pixel| 1 << lanes[pixel]);
        exported.fragments |= fragments.fold(0, |all, lane| all | lane);
        exported.quads.push(quad);
    }

    /// Exports quads of pixels with the colours of their fragments.
    fn export_cells(&mut self, kernel: &Kernel, exported: &mut Exported) {
        let quads = std::mem::take(&mut exported.quads);
        if quads.is_empty() {
            return;
        }
        let colors: SmallVec<[Lanes; 8]> =
            self.scratch.shade.outputs.iter().map(|words| gathered(words, &exported.lanes)).collect();
        if kernel.export.is_some() {
            return export_samples(self.context, kernel, (&colors, &mut *self.scratch.export), &quads);
        }
        for target in &kernel.targets {
            write(self.context, target, &colors, &quads);
        }
    }
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
                for (quad, _) in cells.quads() {
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
        assert_eq!((cells.coverage, cells.first(3, 0), cells.first(2, 1)), ([1 << 15, 0, 0, 0], 4, 4));
        assert_eq!((cells.centroid(0, one), cells.centroid(1, one)), ([0.5; 2], [2.0; 2]));
        let fragments: Vec<_> = cells.quads().map(|(_, fragments)| fragments[0]).collect();
        assert_eq!(fragments, [0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3]);
        let cells = Cells::of_group((0, [0, 0]), Rate::of_size([2, 1]), &[1, 2, 3, 0], None).next().unwrap();
        assert_eq!((cells.coverage[0], cells.centroid(0, sample_positions(4))), (0b0101_0110, [0.375, 0.125]));
        let (_, fragments) = cells.quads().next().unwrap();
        assert_eq!(fragments, [0, 0, 2, 2]);
    }
}
