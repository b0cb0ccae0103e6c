//! One tile: its primitives in API order, to covered quads, early tests, packed fragment waves, late tests, export.
//!
//! Quads of several primitives of a draw share a wave. Quads are exported in the order in which they were rasterized, so
//! results are those of one fragment after the other.

use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::inputs::{WaveFragments, depth_at_sample, depths_at_centres};
use super::kernel::{Kernel, Source, Target};
use super::{DrawContext, depth_group, depth_stencil};
use crate::geometry::Primitives;
use crate::raster::{Criterion, GROUP_LOG2, UNITS, pixels_inside, sample_mask, sample_positions};
use crate::shader::interp::{Environment, Lanes, Mask, Stop, Wave};
use crate::shader::runtime::math::within;

/// Quads a wave holds.
const QUADS: usize = 4;

/// A 2x2 quad of one primitive.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Quad {
    pub(super) primitive: u32,
    pub(super) x: u32,
    pub(super) y: u32,
    /// Covered samples of the pixels (0,0) (1,0) (0,1) (1,1).
    pub(super) coverage: [u32; 4],
}

impl Quad {
    /// The place of one of its pixels, 0 to 3.
    pub(super) fn pixel(&self, number: usize) -> (u32, u32) {
        (self.x + (number as u32 & 1), self.y + (number as u32 >> 1))
    }

    fn is_at(&self, other: &Self) -> bool {
        (self.x, self.y) == (other.x, other.y)
    }
}

/// What a worker keeps from tile to tile.
#[derive(Default)]
pub struct TileScratch {
    wave: Wave,
    /// The wave that exports.
    export: Wave,
    quads: Vec<Quad>,
}

/// Processes the primitives `bin` (indices into `primitives`) inside `area` (`[x0, y0, x1, y1]`, pixels, inside the
/// render area). Returns false when a program was interrupted.
pub fn process_tile(
    context: &DrawContext<'_>,
    primitives: &Primitives,
    bin: &[u32],
    area: [i64; 4],
    scratch: &mut TileScratch,
) -> bool {
    let combines = context.kernel(false).is_some_and(|kernel| kernel.needs_stored);
    let mut tile = Tile { context, primitives, area, scratch, combines, passed: 0, ok: true };
    tile.scratch.quads.clear();
    for &index in bin {
        tile.primitive(index);
    }
    tile.flush();
    if let Some(counter) = context.occlusion {
        counter.fetch_add(tile.passed, Ordering::Relaxed);
    }
    tile.ok
}

struct Tile<'a, 's> {
    context: &'a DrawContext<'a>,
    primitives: &'a Primitives,
    area: [i64; 4],
    scratch: &'s mut TileScratch,
    /// Whether colours are combined with what is stored.
    combines: bool,
    passed: u64,
    ok: bool,
}

impl Tile<'_, '_> {
    fn primitive(&mut self, index: u32) {
        let triangle = self.primitives.triangle(index);
        let bounds = triangle.pixel_bounds();
        let (area, scissor) = (self.area, self.context.scissor);
        let low = |axis: usize| bounds[axis].max(area[axis]).max(scissor[axis]);
        let high = |axis: usize| bounds[axis].min(area[axis]).min(scissor[axis]);
        let window = [low(0), low(1), high(2), high(3)];
        if window[0] >= window[2] || window[1] >= window[3] {
            return;
        }
        let side = 1 << GROUP_LOG2;
        let start = |value: i64| value & !(side - 1);
        for group_y in (start(window[1])..window[3]).step_by(side as usize) {
            for group_x in (start(window[0])..window[2]).step_by(side as usize) {
                let cell = |criterion| triangle.covers_cell(group_x * UNITS, group_y * UNITS, side * UNITS, criterion);
                if cell(Criterion::Conservative) {
                    let full = cell(Criterion::Inner);
                    self.group(index, [group_x, group_y], window, full);
                }
            }
        }
    }

    fn group(&mut self, index: u32, [group_x, group_y]: [i64; 2], window: [i64; 4], full: bool) {
        if self.context.multisample.samples == 1 {
            return self.group_of_pixels(index, [group_x, group_y], window, full);
        }
        let side = 1 << GROUP_LOG2;
        for y in (group_y..group_y + side).step_by(2) {
            for x in (group_x..group_x + side).step_by(2) {
                let outside = x >= window[2] || y >= window[3] || x + 2 <= window[0] || y + 2 <= window[1];
                if !outside {
                    self.quad(index, [x, y], window, full);
                }
            }
        }
    }

    /// A group of one sample a pixel: coverage, and depth where it is all that is tested, of all 64 at once.
    fn group_of_pixels(&mut self, index: u32, [x, y]: [i64; 2], window: [i64; 4], full: bool) {
        if sample_mask(&self.context.multisample) == 0 {
            return;
        }
        let covered = if full { u64::MAX } else { self.primitives.triangle(index).covers_group(x, y) };
        let mut mask = covered & pixels_inside(x, y, window);
        let mut tested = !self.context.tests_early();
        if let (false, Some(state), Some(plane), 32) =
            (tested || mask == 0, &self.context.depth_alone, &self.context.depth, self.context.depth_bits)
            && let Some(left) =
                depth_group::test(state, plane, &self.primitives.shape(index), [x as u32, y as u32], mask)
        {
            (mask, tested) = (left, true);
            self.passed += u64::from(left.count_ones());
        }
        while mask != 0 {
            let first = mask.trailing_zeros() & 0b11_0110;
            let pixels = mask >> first;
            mask &= !(0x303 << first);
            let coverage = [pixels, pixels >> 1, pixels >> 8, pixels >> 9].map(|bits| bits as u32 & 1);
            let (x, y) = (x as u32 + first % 8, y as u32 + first / 8);
            self.covered_quad(Quad { primitive: index, x, y, coverage }, tested);
        }
    }

    fn quad(&mut self, index: u32, [x, y]: [i64; 2], window: [i64; 4], full: bool) {
        let inside = x >= window[0] && x + 2 <= window[2] && y >= window[1] && y + 2 <= window[3];
        let coverage = if full && inside {
            [sample_mask(&self.context.multisample); 4]
        } else {
            self.partial_coverage(index, [x, y], window, full)
        };
        if coverage != [0; 4] {
            let tested = !self.context.tests_early();
            self.covered_quad(Quad { primitive: index, x: x as u32, y: y as u32, coverage }, tested);
        }
    }

    /// Tests a quad unless it was tested or is to be later, and lets it wait for a wave.
    fn covered_quad(&mut self, mut quad: Quad, tested: bool) {
        let any = if tested { 1 } else { self.test(&mut quad, None) };
        if any != 0 && self.context.fragment.is_some() {
            // What is combined with what is stored must see what the quad before it left.
            if self.combines && self.scratch.quads.iter().any(|waiting| waiting.is_at(&quad)) {
                self.flush();
            }
            self.scratch.quads.push(quad);
            if self.scratch.quads.len() == QUADS {
                self.flush();
            }
        }
    }

    fn partial_coverage(&self, index: u32, [x, y]: [i64; 2], window: [i64; 4], full: bool) -> [u32; 4] {
        std::array::from_fn(|pixel| {
            let (px, py) = (x + (pixel as i64 & 1), y + (pixel as i64 >> 1));
            let inside = px >= window[0] && px < window[2] && py >= window[1] && py < window[3];
            if inside { self.pixel_coverage(index, px, py, full) } else { 0 }
        })
    }

    fn pixel_coverage(&self, index: u32, x: i64, y: i64, full: bool) -> u32 {
        let multisample = &self.context.multisample;
        let allowed = sample_mask(multisample);
        if full {
            return allowed;
        }
        let triangle = self.primitives.triangle(index);
        let mut mask = 0;
        for (sample, [sx, sy]) in sample_positions(multisample.samples).iter().enumerate() {
            mask |= u32::from(triangle.covers_point(x * UNITS + sx, y * UNITS + sy)) << sample;
        }
        mask & allowed
    }

    /// Depth and stencil tests of all covered samples; what fails is removed. `depth` gives a pixel's own depth, when its
    /// program wrote one. Returns all samples that are left.
    fn test(&mut self, quad: &mut Quad, depth: Option<[f32; 4]>) -> u32 {
        if self.context.tests.is_none() {
            if self.context.occlusion.is_some() {
                self.passed += quad.coverage.iter().map(|mask| u64::from(mask.count_ones())).sum::<u64>();
            }
            return quad.coverage.iter().fold(0, |any, mask| any | mask);
        }
        let shape = &self.primitives.shape(quad.primitive);
        let samples = self.context.multisample.samples;
        if let (Some(state), Some(plane)) = (self.context.depth_alone, &self.context.depth) {
            let depths = depth.unwrap_or_else(|| depths_at_centres(shape, [quad.x, quad.y]));
            let plane = (plane, self.context.depth_bits);
            let left = depth_stencil::test_quad(&state, plane, [quad.x, quad.y], mask_of(quad), depths);
            quad.coverage = std::array::from_fn(|pixel| left >> pixel & 1);
            self.passed += u64::from(left.count_ones());
            return left;
        }
        let mut all = 0;
        for (pixel, mask) in quad.coverage.iter_mut().enumerate() {
            let (x, y) = (quad.x + (pixel as u32 & 1), quad.y + (pixel as u32 >> 1));
            for sample in 0..samples {
                if *mask >> sample & 1 == 0 {
                    continue;
                }
                let depth = match depth {
                    Some(depth) => depth[pixel],
                    None => depth_at_sample(shape, (x, y), samples, sample),
                };
                if depth_stencil::test(self.context, x, y, sample, depth, shape.front) {
                    self.passed += 1;
                } else {
                    *mask &= !(1 << sample);
                }
            }
            all |= *mask;
        }
        all
    }

    /// Shades and exports the quads that wait.
    fn flush(&mut self) {
        if self.scratch.quads.is_empty() {
            return;
        }
        if self.context.shades_samples() {
            for sample in 0..self.context.multisample.samples {
                self.shade(Some(sample));
            }
        } else {
            self.shade(None);
        }
        self.scratch.quads.clear();
    }

    fn shade(&mut self, sample: Option<u32>) {
        let mut quads: SmallVec<[Quad; QUADS]> =
            self.scratch.quads.iter().map(|quad| of_sample(quad, sample)).collect();
        let (first, lanes) = (quads[0].primitive, (1u32 << (quads.len() * 4)) - 1);
        let packed = quads.iter().any(|quad| quad.primitive != first);
        let Some(kernel) = self.context.kernel(packed) else { return };
        let covered = quads.iter().rev().fold(0, |bits, quad| bits << 4 | mask_of(quad));
        if covered == 0 {
            return;
        }
        let (context, primitives, targets) = (self.context, self.primitives, &kernel.targets[..]);
        let fragments = WaveFragments { context, primitives, quads: &quads, targets, sample };
        let (program, wave) = (&kernel.shade.program, &mut self.scratch.wave);
        wave.start(program, lanes as u16, (lanes & !covered) as u16);
        for &(slot, source) in &kernel.shade.sources {
            fragments.fill(source, &mut wave.inputs[slot]);
        }
        let environment = Environment {
            parameters: primitives.words(first),
            push: context.push,
            ..Environment::new(context.bindings, context.deadline)
        };
        if wave.run(program, &environment) == Stop::Interrupted {
            self.ok = false;
            return;
        }
        for (number, quad) in quads.iter_mut().enumerate() {
            self.finish(kernel, quad, number * 4);
        }
        if kernel.export.is_some() {
            return self.export_samples(kernel, &quads);
        }
        for target in targets {
            write(context, target, &self.scratch.wave.outputs, &quads);
        }
    }

    /// Exports the colours of a wave, which are combined with what each sample holds.
    fn export_samples(&mut self, kernel: &Kernel, quads: &[Quad]) {
        let stage = kernel.exporter();
        let TileScratch { wave, export, .. } = &mut *self.scratch;
        for sample in 0..self.context.multisample.samples {
            let quads: SmallVec<[Quad; QUADS]> = quads.iter().map(|quad| of_sample(quad, Some(sample))).collect();
            let (context, primitives, targets) = (self.context, self.primitives, &kernel.targets[..]);
            let fragments = WaveFragments { context, primitives, quads: &quads, targets, sample: Some(sample) };
            export.start(&stage.program, Mask::MAX, 0);
            for &(slot, source) in &stage.sources {
                match source {
                    Source::Output(output) => export.inputs[slot] = wave.outputs[output],
                    source => fragments.fill(source, &mut export.inputs[slot]),
                }
            }
            // It has no loops: nothing interrupts it.
            export.run(&stage.program, &Environment::new(context.bindings, context.deadline));
            for target in targets {
                write(context, target, &export.outputs, &quads);
            }
        }
    }

    /// What follows the program: coverage it changed, and late tests.
    fn finish(&mut self, kernel: &Kernel, quad: &mut Quad, first_lane: usize) {
        let wave = &self.scratch.wave;
        for (pixel, mask) in quad.coverage.iter_mut().enumerate() {
            let lane = first_lane + pixel;
            if wave.killed() >> lane & 1 != 0 {
                *mask = 0;
            }
            if let Some(slot) = kernel.sample_mask {
                *mask &= wave.outputs[slot][lane];
            }
            if let Some(slot) = kernel.alpha {
                *mask &= alpha_coverage(f32::from_bits(wave.outputs[slot][lane]), self.context.multisample.samples);
            }
        }
        if !self.context.tests_early() {
            let depth = kernel
                .depth
                .map(|slot| std::array::from_fn(|pixel| f32::from_bits(wave.outputs[slot][first_lane + pixel])));
            self.test(quad, depth);
        }
    }
}

/// Writes the texels of a wave's quads to the samples of an attachment that are covered.
fn write(context: &DrawContext<'_>, target: &Target, outputs: &[Lanes], quads: &[Quad]) {
    let Some(plane) = context.color(target) else { return };
    let words = &outputs[target.first_word..];
    if target.bytes == 4 && plane.samples() == 1 {
        for (quad, words) in quads.iter().zip(words[0].as_chunks::<4>().0) {
            plane.write_quad(quad.x, quad.y, words, mask_of(quad));
        }
        return;
    }
    for lane in 0..quads.len() * 4 {
        let (quad, pixel) = (&quads[lane / 4], lane % 4);
        let mut bytes = [0; 16];
        for (bytes, words) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words).take(target.bytes.div_ceil(4)) {
            *bytes = words[lane].to_le_bytes();
        }
        let (x, y) = quad.pixel(pixel);
        let mut rest = quad.coverage[pixel];
        while rest != 0 {
            plane.write(x, y, rest.trailing_zeros(), &bytes[..target.bytes]);
            rest &= rest - 1;
        }
    }
}

/// As many samples as alpha's share, the first ones.
fn alpha_coverage(alpha: f32, samples: u32) -> u32 {
    let count = (within(alpha, 0.0, 1.0) * samples as f32 + 0.5) as u32;
    (1 << count) - 1
}

/// Pixels of a quad of which any sample is covered, as bits.
fn mask_of(quad: &Quad) -> u32 {
    quad.coverage.iter().enumerate().fold(0, |mask, (pixel, &covered)| mask | u32::from(covered != 0) << pixel)
}

/// A quad with only one sample left, when samples are shaded on their own.
fn of_sample(quad: &Quad, sample: Option<u32>) -> Quad {
    match sample {
        Some(sample) => Quad { coverage: quad.coverage.map(|mask| mask & 1 << sample), ..*quad },
        None => *quad,
    }
}
