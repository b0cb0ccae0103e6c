//! One tile: its primitives in API order, to covered quads, early tests, packed fragment waves, late tests, export.
//!
//! Quads of several primitives of a draw share a wave. Quads are exported in the order in which they were rasterized, so
//! results are those of one fragment after the other.

use std::sync::atomic::Ordering;

use super::export::{Colors, Encoder};
use super::inputs::{WaveFragments, depth_at_sample, depths_at_centres};
use super::{ColorTarget, DrawContext, Words, depth_group, depth_stencil};
use crate::geometry::Primitive;
use crate::raster::{Criterion, GROUP_LOG2, UNITS, pixels_inside, sample_mask, sample_positions};
use crate::shader::interp::{Environment, Stop, Wave};
use crate::shader::runtime::math::within;
use crate::shader::{Builtin, Slot};

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

/// What a worker keeps from tile to tile.
#[derive(Default)]
pub struct TileScratch {
    wave: Wave,
    quads: Vec<Quad>,
}

/// Processes the primitives `bin` (indices into `primitives`) inside `area` (`[x0, y0, x1, y1]`, pixels, inside the
/// render area). Returns false when a program was interrupted.
pub fn process_tile(
    context: &DrawContext<'_>,
    primitives: &[Primitive],
    bin: &[u32],
    area: [i64; 4],
    scratch: &mut TileScratch,
) -> bool {
    let mut tile = Tile { context, primitives, area, scratch, passed: 0, ok: true };
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
    primitives: &'a [Primitive],
    area: [i64; 4],
    scratch: &'s mut TileScratch,
    passed: u64,
    ok: bool,
}

impl Tile<'_, '_> {
    fn primitive(&mut self, index: u32) {
        let primitives = self.primitives;
        let triangle = &primitives[index as usize].triangle;
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
        let primitive = &self.primitives[index as usize];
        let covered = if full { u64::MAX } else { primitive.triangle.covers_group(x, y) };
        let mut mask = covered & pixels_inside(x, y, window);
        let mut tested = !self.context.tests_early();
        if let (false, Some(state), Some(plane), 32) =
            (tested || mask == 0, &self.context.depth_alone, &self.context.depth, self.context.depth_bits)
            && let Some(left) = depth_group::test(state, plane, primitive, [x as u32, y as u32], mask)
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
        let triangle = &self.primitives[index as usize].triangle;
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
        let primitive = &self.primitives[quad.primitive as usize];
        let samples = self.context.multisample.samples;
        if let (Some(state), Some(plane)) = (self.context.depth_alone, &self.context.depth) {
            let depths = depth.unwrap_or_else(|| depths_at_centres(primitive, [quad.x, quad.y]));
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
                    None => depth_at_sample(primitive, (x, y), samples, sample),
                };
                if depth_stencil::test(self.context, x, y, sample, depth, primitive.front) {
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
        let Some(program) = self.context.fragment else { return };
        let quads: smallvec::SmallVec<[Quad; QUADS]> =
            self.scratch.quads.iter().map(|quad| of_sample(quad, sample)).collect();
        let lanes = ((1u32 << (quads.len() * 4)) - 1) as u16;
        let mut helpers = 0;
        for (number, quad) in quads.iter().enumerate() {
            for (pixel, &mask) in quad.coverage.iter().enumerate() {
                helpers |= u16::from(mask == 0) << (number * 4 + pixel);
            }
        }
        if lanes == helpers {
            return;
        }
        let samples = self.context.multisample.samples;
        let fragments = WaveFragments { primitives: self.primitives, quads: &quads, program, samples, sample };
        let wave = &mut self.scratch.wave;
        wave.start(program, lanes, helpers);
        fragments.fill(&mut wave.inputs);
        let environment = Environment {
            bindings: self.context.bindings,
            push: self.context.push,
            shared: None,
            interpolator: Some(&fragments),
            deadline: self.context.deadline,
        };
        if wave.run(program, &environment) == Stop::Interrupted {
            self.ok = false;
            return;
        }
        let slots = SpecialOutputs {
            sample_mask: program.output_builtin(Builtin::SampleMask, 0),
            depth: program.output_builtin(Builtin::FragDepth, 0),
        };
        let mut left = quads;
        for (number, quad) in left.iter_mut().enumerate() {
            self.finish(quad, number * 4, &slots);
        }
        for target in self.context.colors.iter().filter(|target| target.outputs.iter().any(Option::is_some)) {
            match target.words {
                Some(words) if words.blend.is_none() || !overlap(&left) => self.export_words(target, words, &left),
                _ => self.export(target, &left),
            }
        }
    }

    /// What follows the program: coverage it changed, and late tests.
    fn finish(&mut self, quad: &mut Quad, first_lane: usize, slots: &SpecialOutputs) {
        let wave = &self.scratch.wave;
        for (pixel, mask) in quad.coverage.iter_mut().enumerate() {
            let lane = first_lane + pixel;
            if wave.killed() >> lane & 1 != 0 {
                *mask = 0;
            }
            if let Some(slot) = slots.sample_mask {
                *mask &= wave.outputs[slot][lane];
            }
            if self.context.multisample.alpha_to_coverage {
                *mask &= self.alpha_coverage(lane);
            }
        }
        if !self.context.tests_early() {
            let depth = slots
                .depth
                .map(|slot| std::array::from_fn(|pixel| f32::from_bits(wave.outputs[slot][first_lane + pixel])));
            self.test(quad, depth);
        }
    }

    /// Exports a wave's quads to an attachment of words, of one sample.
    fn export_words(&self, target: &ColorTarget<'_>, words: Words, quads: &[Quad]) {
        let outputs = &self.scratch.wave.outputs;
        let words = if words.blend.is_some() {
            let mut stored = [0; QUADS * 4];
            for (quad, stored) in quads.iter().zip(stored.as_chunks_mut::<4>().0) {
                *stored = target.plane.read_quad(quad.x, quad.y);
            }
            words.encode_blended((target, self.context.blend_constants), outputs, &stored)
        } else {
            words.encode(target, outputs)
        };
        for (quad, words) in quads.iter().zip(words.as_chunks::<4>().0) {
            target.plane.write_quad(quad.x, quad.y, words, mask_of(quad));
        }
    }

    /// Exports a wave's quads to any attachment.
    fn export(&self, target: &ColorTarget<'_>, quads: &[Quad]) {
        let encoder = Encoder::new(self.context, target);
        for (number, quad) in quads.iter().enumerate() {
            for (pixel, &mask) in quad.coverage.iter().enumerate().filter(|(_, mask)| **mask != 0) {
                let position = (quad.x + (pixel as u32 & 1), quad.y + (pixel as u32 >> 1));
                encoder.export(position, mask, self.colors(target, number * 4 + pixel));
            }
        }
    }

    /// As many samples as alpha's share, the first ones.
    fn alpha_coverage(&self, lane: usize) -> u32 {
        let slot = Slot::Location { location: 0, component: 3, index: 0 };
        let slot = self.context.fragment.and_then(|program| program.output(slot));
        let Some(slot) = slot else { return u32::MAX };
        let alpha = f32::from_bits(self.scratch.wave.outputs[slot][lane]);
        let samples = self.context.multisample.samples;
        let count = (within(alpha, 0.0, 1.0) * samples as f32 + 0.5) as u32;
        (1 << count) - 1
    }

    /// A fragment's colours for an attachment.
    fn colors(&self, target: &ColorTarget<'_>, lane: usize) -> Colors {
        let outputs = &self.scratch.wave.outputs;
        let word = |slot: Option<usize>| slot.map_or(0, |slot| outputs[slot][lane]);
        let mut colors = Colors { source: target.outputs.map(word), second: target.second.map(word) };
        if self.context.multisample.alpha_to_one {
            let one = crate::format::one(target.info.class);
            (colors.source[3], colors.second[3]) = (one, one);
        }
        colors
    }
}

/// Output words of a fragment program that are no colours.
struct SpecialOutputs {
    sample_mask: Option<usize>,
    depth: Option<usize>,
}

/// Whether quads of a wave lie at the same place: then each must see what the one before it left.
fn overlap(quads: &[Quad]) -> bool {
    let place = |quad: &Quad| (quad.x, quad.y);
    quads.iter().enumerate().any(|(number, quad)| quads[..number].iter().any(|other| place(other) == place(quad)))
}

/// Covered pixels of a quad of one sample, as bits.
fn mask_of(quad: &Quad) -> u32 {
    quad.coverage.iter().enumerate().fold(0, |mask, (pixel, &covered)| mask | (covered & 1) << pixel)
}

/// A quad with only one sample left, when samples are shaded on their own.
fn of_sample(quad: &Quad, sample: Option<u32>) -> Quad {
    match sample {
        Some(sample) => Quad { coverage: quad.coverage.map(|mask| mask & 1 << sample), ..*quad },
        None => *quad,
    }
}
