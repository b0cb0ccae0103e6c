//! Depth test of a whole group of 8x8 pixels.
//!
//! This module only compares depths, which are single-precision floats or fixed-point codes.

use ash::vk;
use vitric_base::simd::{WAVE, highest_bits, kernel, ones};
use vitric_format::{decode_depth, depth_code};
use vitric_memory::PlaneRef;

use super::depths::depth_at;
use crate::hiz::DepthRange;
use crate::raster::Shape;
use crate::raster::{SIDE, UNITS, pixel_of_bit};
use crate::state::DepthStencilState;

/// Results of a comparison that pass, as masks of ones or zeros: less, equal, greater, unordered.
type Outcomes = [u32; 4];

fn outcomes(op: vk::CompareOp) -> Outcomes {
    let [less, equal, greater, unordered] = match op {
        vk::CompareOp::LESS => [true, false, false, false],
        vk::CompareOp::EQUAL => [false, true, false, false],
        vk::CompareOp::LESS_OR_EQUAL => [true, true, false, false],
        vk::CompareOp::GREATER => [false, false, true, false],
        vk::CompareOp::NOT_EQUAL => [true, false, true, true],
        vk::CompareOp::GREATER_OR_EQUAL => [false, true, true, false],
        vk::CompareOp::ALWAYS => [true; 4],
        _ => [false; 4],
    };
    [less, equal, greater, unordered].map(ones)
}

/// Returns ones if a depth passes against the stored depth, else zeros.
#[inline(always)]
fn passing(new: f32, old: f32, [less, equal, greater, unordered]: Outcomes) -> u32 {
    let nan = ones(new.is_nan() | old.is_nan());
    ones(new < old) & less | ones(new == old) & equal | ones(new > old) & greater | nan & unordered
}

/// Returns ones if a fixed-point depth passes against the stored one, else zeros.
#[inline(always)]
fn passing_code(new: u32, old: u32, [less, equal, greater, _]: Outcomes) -> u32 {
    ones(new < old) & less | ones(new == old) & equal | ones(new > old) & greater
}

/// Pixels of a group.
const PIXELS: usize = SIDE * SIDE;

/// One 32-bit word for each pixel of a group.
type Line = [u32; PIXELS];

/// Offsets of each pixel in its group, in x and in y.
const STEPS: [Line; 2] = {
    let mut steps = [[0; PIXELS]; 2];
    let mut bit = 0;
    while bit < PIXELS {
        let [x, y] = pixel_of_bit(bit as u32);
        (steps[0][bit], steps[1][bit]) = (x, y);
        bit += 1;
    }
    steps
};

/// One sample of some pixels of a group.
#[derive(Clone, Copy)]
struct Samples {
    /// First pixel of the group.
    place: [u32; 2],
    pixels: u64,
    /// Location of the sample in its pixel, from 0 to 1.
    at: [f32; 2],
}

impl Samples {
    #[inline(always)]
    fn depth(&self, shape: &Shape, bit: usize) -> f32 {
        let along = |axis: usize| (self.place[axis] + STEPS[axis][bit]) as f32 - shape.reference[axis] + self.at[axis];
        depth_at(shape, along(0), along(1))
    }
}

/// Replaces the words of the pixels in `asked` that pass, and returns these pixels.
#[inline(always)]
fn replace(line: &mut Line, new: &Line, passes: &Line, asked: u64) -> u64 {
    let strips = passes.as_chunks::<WAVE>().0;
    let left = (0..PIXELS)
        .step_by(WAVE)
        .zip(strips)
        .fold(0, |left, (first, passes)| left | u64::from(highest_bits(passes)) << first);
    let left = left & asked;
    if left != 0 {
        for (bit, (word, new)) in line.iter_mut().zip(new).enumerate() {
            let taken = ones(left >> bit & 1 != 0);
            *word = new & taken | *word & !taken;
        }
    }
    left
}

// Each function has a single loop over all pixels because the compiler vectorizes only that. It
// compiles several short loops to one instruction a pixel.

#[inline(always)]
fn test_float_lanes(line: &mut Line, shape: &Shape, samples: Samples, outcomes: Outcomes) -> u64 {
    let (mut new, mut passes) = ([0; PIXELS], [0; PIXELS]);
    for bit in 0..PIXELS {
        let depth = samples.depth(shape, bit);
        new[bit] = depth.to_bits();
        passes[bit] = passing(depth, f32::from_bits(line[bit]), outcomes);
    }
    replace(line, &new, &passes, samples.pixels)
}

#[inline(always)]
fn test_code_lanes(line: &mut Line, shape: &Shape, samples: Samples, (outcomes, bits): (Outcomes, u32)) -> u64 {
    let (mut new, mut passes) = ([0; PIXELS], [0; PIXELS]);
    let mask = (1 << bits) - 1;
    for bit in 0..PIXELS {
        let code = depth_code(bits, samples.depth(shape, bit));
        // The bits above those of depth may contain stencil.
        new[bit] = code | line[bit] & !mask;
        passes[bit] = passing_code(code, line[bit] & mask, outcomes);
    }
    replace(line, &new, &passes, samples.pixels)
}

kernel!(
    /// Tests samples against stored floats and replaces the words of the pixels that pass. Returns
    /// these pixels.
    test_floats, test_float_lanes, (line: &mut Line, shape: &Shape, samples: Samples, outcomes: Outcomes) -> u64
);

kernel!(
    /// Tests samples against stored codes and replaces the words of the pixels that pass. Returns
    /// these pixels. `how` are the passing results and the bits of a code.
    test_codes, test_code_lanes, (line: &mut Line, shape: &Shape, samples: Samples, how: (Outcomes, u32)) -> u64
);

#[inline(always)]
fn float_lanes(shape: &Shape, samples: Samples) -> Line {
    let mut words = [0; PIXELS];
    for (bit, word) in words.iter_mut().enumerate() {
        *word = samples.depth(shape, bit).to_bits();
    }
    words
}

#[inline(always)]
fn code_lanes(shape: &Shape, samples: Samples, bits: u32) -> Line {
    let mut words = [0; PIXELS];
    for (bit, word) in words.iter_mut().enumerate() {
        *word = depth_code(bits, samples.depth(shape, bit));
    }
    words
}

kernel!(
    /// Returns the depths of all pixels of a group as bits of floats.
    floats, float_lanes, (shape: &Shape, samples: Samples) -> Line
);

kernel!(
    /// Returns the depths of all pixels of a group as codes of `bits` bits.
    codes, code_lanes, (shape: &Shape, samples: Samples, bits: u32) -> Line
);

/// One sample of the pixels of a group.
#[derive(Clone, Copy)]
pub(super) struct GroupSample {
    /// First pixel of the group.
    pub(super) place: [u32; 2],
    /// Number of the sample.
    pub(super) sample: u32,
    /// Location of the sample in its pixel, in [`UNITS`].
    pub(super) location: [i64; 2],
}

impl GroupSample {
    /// Returns the sample of some pixels of the group.
    #[inline]
    fn of_pixels(self, pixels: u64) -> Samples {
        Samples { place: self.place, pixels, at: self.location.map(|units| units as f32 / UNITS as f32) }
    }
}

/// Writes the depths of a sample to all pixels of a group, regardless of the stored depths.
///
/// [`test`] writes the same words if all pixels pass.
pub(super) fn write_all(stored: DepthPlane<'_>, shape: &Shape, sample: GroupSample) {
    let samples = sample.of_pixels(u64::MAX);
    let line = match stored.bits {
        32 => floats(shape, samples),
        bits => codes(shape, samples, bits),
    };
    stored.write(stored.address(sample), &line, u64::MAX);
}

/// Plane of stored depths.
#[derive(Clone, Copy)]
pub(super) struct DepthPlane<'a> {
    pub(super) plane: &'a PlaneRef<'a>,
    /// Bits of a depth.
    pub(super) bits: u32,
}

impl DepthPlane<'_> {
    /// Returns the address of the line of a group's sample.
    #[inline]
    fn address(self, GroupSample { place: [x, y], sample, .. }: GroupSample) -> u64 {
        self.plane.address(x, y, sample)
    }

    /// Returns true if the group that contains a pixel lies in one line of memory.
    pub(super) fn has_line(self, [x, y]: [u32; 2]) -> bool {
        let Self { plane, bits } = self;
        if bits == 16 { plane.has_short_line(x, y) } else { plane.has_line(x, y) }
    }

    /// Returns the range of all depths of a group, given its first pixel. Returns `None` if the
    /// group does not lie in lines of memory, or if a depth is not a number.
    pub(super) fn range(self, place: [u32; 2]) -> Option<DepthRange> {
        if !self.has_line(place) {
            return None;
        }
        let mut range = DepthRange { min: f32::INFINITY, max: f32::NEG_INFINITY };
        for sample in 0..self.plane.samples() {
            let line = self.read(self.address(GroupSample { place, sample, location: [0; 2] }));
            for word in line {
                let depth = match self.bits {
                    32 => f32::from_bits(word),
                    bits => decode_depth(bits, word & !(u32::MAX << bits)),
                };
                if depth.is_nan() {
                    return None;
                }
                range = DepthRange { min: range.min.min(depth), max: range.max.max(depth) };
            }
        }
        Some(range)
    }

    /// Returns the words of the group whose line begins at `address`.
    fn read(self, address: u64) -> Line {
        let Self { plane, bits } = self;
        if bits == 16 { plane.read_short_line_at(address) } else { plane.read_line_at(address) }
    }

    /// Writes each pair of rows that contains any of `pixels`.
    ///
    /// It leaves the other rows alone because another thread may write them at the same time, next
    /// to the area that is drawn to.
    fn write(self, address: u64, line: &Line, pixels: u64) {
        let Self { plane, bits } = self;
        for (rows, words) in
            (0..).zip(line.as_chunks::<WAVE>().0).filter(|(rows, _)| pixels >> (rows * 16) & 0xffff != 0)
        {
            match bits {
                16 => plane.write_short_strip_at(address + rows * 32, words),
                _ => plane.write_strip_at(address + rows * 64, words),
            }
        }
    }
}

/// Tests a sample of the pixels in `mask` of a group, and returns the pixels that pass.
///
/// The result equals `depth_stencil::test` of each quad. The attachment must have a line at the
/// group.
pub(super) fn test(
    state: &DepthStencilState,
    stored: DepthPlane<'_>,
    shape: &Shape,
    sample: GroupSample,
    mask: u64,
) -> u64 {
    let outcomes = outcomes(state.depth_compare);
    let (address, samples) = (stored.address(sample), sample.of_pixels(mask));
    let mut line = stored.read(address);
    let left = match stored.bits {
        32 => test_floats(&mut line, shape, samples, outcomes),
        bits => test_codes(&mut line, shape, samples, (outcomes, bits)),
    };
    if state.depth_write && left != 0 {
        stored.write(address, &line, left);
    }
    left
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::depths::depth_in_range;
    use super::*;
    use vitric_ir::BinaryOp;

    fn depth() -> impl Strategy<Value = f32> {
        prop_oneof![Just(f32::NAN), Just(0.0), Just(-0.0), Just(0.5), -1.0f32..2.0]
    }

    proptest! {
        #[test]
        fn every_comparison_passes_what_it_passes_of_one(
            new in depth(), old in depth(), op in 0i32..8,
        ) {
            let op = vk::CompareOp::from_raw(op);
            prop_assert_eq!(passing(new, old, outcomes(op)), ones(vitric_exec::texture::compare(op, new, old)));
        }

        #[test]
        fn depths_are_clamped_as_generated_code_does(
            own in depth(), near in prop::sample::select(vec![0.0f32, 0.5, 1.0]), far in prop::sample::select(vec![0.0f32, 0.5, 1.0]),
        ) {
            let shape = Shape { depth_range: [near, far], ..Shape::default() };
            let [own_bits, near, far] = [own, near, far].map(f32::to_bits);
            let clamped = BinaryOp::FMin.apply(far, BinaryOp::FMax.apply(near, own_bits));
            prop_assert_eq!(depth_in_range(&shape, own).to_bits(), clamped);
        }

        #[test]
        fn groups_are_tested_like_their_pixels(
            origin in -0.5f32..1.5, slopes in [-0.1f32..0.1, -0.1f32..0.1], old in prop::collection::vec(any::<u32>(), PIXELS),
            op in 0i32..8, pixels in any::<u64>(), bits in prop::sample::select(vec![16u32, 24, 32]), near in any::<bool>(),
        ) {
            let op = vk::CompareOp::from_raw(op);
            let depth = crate::raster::Plane { origin, dx: slopes[0], dy: slopes[1] };
            let shape = Shape { depth, depth_range: [0.0, 1.0], ..Shape::default() };
            let samples = Samples { place: [8, 16], pixels, at: [0.25, 0.5] };
            let place = |bit: usize| pixel_of_bit(bit as u32).map(|step| step as f32);
            let own = |bit: usize| depth_at(&shape, 8.0 + place(bit)[0] + 0.25, 16.0 + place(bit)[1] + 0.5);
            let encoded = |depth: f32| if bits == 32 { depth.to_bits() } else { vitric_format::encode_depth(bits, depth) };
            let decoded = |word: u32| if bits == 32 { f32::from_bits(word) } else { vitric_format::decode_depth(bits, word) };
            // Some stored codes equal the new one or differ by one.
            let close = |bit: usize| encoded(own(bit)).saturating_add(old[bit] % 3).saturating_sub(1);
            let old: Line = std::array::from_fn(|bit| if near { close(bit) } else { old[bit] });
            let mut line = old;
            let left = match bits {
                32 => test_floats(&mut line, &shape, samples, outcomes(op)),
                bits => test_codes(&mut line, &shape, samples, (outcomes(op), bits)),
            };
            let all = if bits == 32 { floats(&shape, samples) } else { codes(&shape, samples, bits) };
            for bit in 0..PIXELS {
                let new = encoded(own(bit));
                prop_assert_eq!(all[bit], new);
                let passes = pixels >> bit & 1 != 0 && vitric_exec::texture::compare(op, decoded(new), decoded(old[bit]));
                prop_assert_eq!(left >> bit & 1 != 0, passes);
                let others = if bits == 32 { 0 } else { !0 << bits };
                prop_assert_eq!(line[bit], if passes { new | old[bit] & others } else { old[bit] });
            }
        }
    }
}
