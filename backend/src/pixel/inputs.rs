//! Inputs of a fragment wave: interpolated user variables and built-ins.

use super::tile::Quad;
use crate::geometry::{Plane, Primitive};
use crate::raster::{self, UNITS};
use crate::shader::interp::{Interpolator, Lanes, WAVE};
use crate::shader::runtime::kernels::kernel;
use crate::shader::{Builtin, InputSlot, Interpolation, Place, Program, Slot};

/// The fragments of a wave: up to four quads, and the sample when each is shaded on its own.
pub(super) struct WaveFragments<'a> {
    pub(super) primitives: &'a [Primitive],
    pub(super) quads: &'a [Quad],
    pub(super) program: &'a Program,
    pub(super) samples: u32,
    pub(super) sample: Option<u32>,
}

const CENTRE: [f32; 2] = [0.5, 0.5];

/// The pixels' centres of a wave.
struct Centres {
    x: [f32; WAVE],
    y: [f32; WAVE],
    inverse_w: [f32; WAVE],
}

/// Origins and slopes of planes in each lane.
type Coefficients = [[f32; WAVE]; 3];

/// `Plane::at` in every lane.
#[inline(always)]
fn evaluate_lanes(out: &mut [f32; WAVE], [origin, dx, dy]: &Coefficients, x: &[f32; WAVE], y: &[f32; WAVE]) {
    for lane in 0..WAVE {
        out[lane] = origin[lane] + dx[lane] * x[lane] + dy[lane] * y[lane];
    }
}

#[inline(always)]
fn divide_lanes(values: &mut [f32; WAVE], by: &[f32; WAVE]) {
    for (value, by) in values.iter_mut().zip(by) {
        *value /= by;
    }
}

kernel!(
    /// `Plane::at` in every lane.
    evaluate, evaluate_wide, evaluate_lanes,
    (out: &mut [f32; WAVE], planes: &Coefficients, x: &[f32; WAVE], y: &[f32; WAVE])
);
kernel!(
    /// Quotients in every lane.
    divide, divide_wide, divide_lanes, (values: &mut [f32; WAVE], by: &[f32; WAVE])
);

impl WaveFragments<'_> {
    /// Fills in all input words.
    pub(super) fn fill(&self, inputs: &mut [Lanes]) {
        let plain = self.sample.is_none() && self.program.inputs.iter().any(|input| self.is_plain(input));
        let centres = plain.then(|| self.centres());
        for (index, input) in self.program.inputs.iter().enumerate() {
            let lanes = &mut inputs[index];
            *lanes = [0; WAVE];
            if let (Some(centres), true) = (&centres, self.is_plain(input)) {
                self.fill_at_centres(lanes, index, input.interpolation, centres);
                continue;
            }
            for (lane, word) in lanes.iter_mut().enumerate().take(self.quads.len() * 4) {
                *word = self.word(index, input, lane);
            }
        }
    }

    /// Whether an input is a varying at the pixels' centres.
    fn is_plain(&self, input: &InputSlot) -> bool {
        let is_user = match input.slot {
            Slot::Builtin(builtin, _) => is_varying(builtin),
            Slot::Location { .. } => true,
        };
        is_user && input.place != Place::Centroid && input.interpolation != Interpolation::Flat
    }

    /// Offsets of the pixels' centres from their primitives' reference points, and 1/w there.
    fn centres(&self) -> Centres {
        let mut centres = Centres { x: [0.0; WAVE], y: [0.0; WAVE], inverse_w: [1.0; WAVE] };
        for (number, quad) in self.quads.iter().enumerate() {
            let reference = self.primitives[quad.primitive as usize].reference;
            let along =
                |first: u32, axis: usize| [first, first + 1].map(|at| at as f32 - reference[axis] + CENTRE[axis]);
            let ([left, right], [upper, lower]) = (along(quad.x, 0), along(quad.y, 1));
            centres.x[number * 4..][..4].copy_from_slice(&[left, right, left, right]);
            centres.y[number * 4..][..4].copy_from_slice(&[upper, upper, lower, lower]);
        }
        let planes = self.coefficients(|primitive| &primitive.inverse_w);
        evaluate(&mut centres.inverse_w, &planes, &centres.x, &centres.y);
        centres
    }

    fn fill_at_centres(&self, lanes: &mut Lanes, index: usize, interpolation: Interpolation, centres: &Centres) {
        let mut values = [0.0; WAVE];
        evaluate(&mut values, &self.coefficients(|primitive| &primitive.planes[index]), &centres.x, &centres.y);
        if interpolation == Interpolation::Smooth {
            divide(&mut values, &centres.inverse_w);
        }
        *lanes = values.map(f32::to_bits);
        // Lanes behind the last quad hold nothing.
        lanes[self.quads.len() * 4..].fill(0);
    }

    /// The coefficients of a plane of each lane's primitive.
    fn coefficients<'a>(&'a self, plane: impl Fn(&'a Primitive) -> &'a Plane) -> Coefficients {
        let mut out = [[0.0; WAVE]; 3];
        for (number, quad) in self.quads.iter().enumerate() {
            let Plane { origin, dx, dy } = *plane(&self.primitives[quad.primitive as usize]);
            for (lanes, value) in out.iter_mut().zip([origin, dx, dy]) {
                lanes[number * 4..][..4].fill(value);
            }
        }
        out
    }

    fn quad(&self, lane: usize) -> &Quad {
        &self.quads[lane / 4]
    }

    fn primitive(&self, lane: usize) -> &Primitive {
        &self.primitives[self.quad(lane).primitive as usize]
    }

    /// Pixel of a lane.
    fn pixel(&self, lane: usize) -> [u32; 2] {
        let quad = self.quad(lane);
        [quad.x + (lane as u32 & 1), quad.y + (lane as u32 >> 1 & 1)]
    }

    fn coverage(&self, lane: usize) -> u32 {
        self.quad(lane).coverage[lane & 3]
    }

    /// Where in the pixel, 0 to 1, an input is evaluated.
    fn place(&self, place: Place, lane: usize) -> [f32; 2] {
        match (place, self.sample) {
            (_, Some(sample)) => sample_place(self.samples, sample),
            (Place::Centroid, None) => self.centroid(lane),
            _ => CENTRE,
        }
    }

    /// The centre when it is surely inside, else the first covered sample.
    fn centroid(&self, lane: usize) -> [f32; 2] {
        let covered = self.coverage(lane);
        let full = (1u32 << self.samples) - 1;
        if covered == 0 || covered == full { CENTRE } else { sample_place(self.samples, covered.trailing_zeros()) }
    }

    /// Offset of a place in a lane's pixel from its primitive's reference point.
    fn relative(&self, lane: usize, [px, py]: [f32; 2]) -> [f32; 2] {
        let [x, y] = self.pixel(lane);
        let reference = self.primitive(lane).reference;
        [x as f32 - reference[0] + px, y as f32 - reference[1] + py]
    }

    fn word(&self, index: usize, input: &InputSlot, lane: usize) -> u32 {
        match input.slot {
            Slot::Builtin(builtin, component) if !is_varying(builtin) => self.builtin(builtin, component, lane),
            _ => self.varying(index, input.interpolation, lane, self.place(input.place, lane)),
        }
    }

    fn varying(&self, index: usize, interpolation: Interpolation, lane: usize, place: [f32; 2]) -> u32 {
        let primitive = self.primitive(lane);
        let [x, y] = self.relative(lane, place);
        match interpolation {
            Interpolation::Flat => primitive.flat.get(index).copied().unwrap_or(0),
            Interpolation::NoPerspective => primitive.planes[index].at(x, y).to_bits(),
            Interpolation::Smooth => (primitive.planes[index].at(x, y) / primitive.inverse_w.at(x, y)).to_bits(),
        }
    }

    fn builtin(&self, builtin: Builtin, component: u32, lane: usize) -> u32 {
        match builtin {
            Builtin::FragCoord => self.frag_coord(component, lane),
            Builtin::FrontFacing => u32::from(self.primitive(lane).front),
            Builtin::PointCoord => self.point_coord(component, lane),
            Builtin::SampleId => self.sample.unwrap_or(0),
            Builtin::SamplePosition => {
                sample_place(self.samples, self.sample.unwrap_or(0))[component as usize & 1].to_bits()
            }
            Builtin::SampleMask => match self.sample {
                Some(sample) => self.coverage(lane) & 1 << sample,
                None => self.coverage(lane),
            },
            Builtin::HelperInvocation => u32::from(self.coverage(lane) == 0),
            Builtin::PrimitiveId => self.primitive(lane).id,
            _ => 0,
        }
    }

    fn frag_coord(&self, component: u32, lane: usize) -> u32 {
        let place = self.place(Place::Center, lane);
        let [x, y] = self.pixel(lane);
        let [dx, dy] = self.relative(lane, place);
        let primitive = self.primitive(lane);
        let value = match component {
            0 => x as f32 + place[0],
            1 => y as f32 + place[1],
            2 => depth_at(primitive, dx, dy),
            _ => primitive.inverse_w.at(dx, dy),
        };
        value.to_bits()
    }

    fn point_coord(&self, component: u32, lane: usize) -> u32 {
        let Some((corner, inverse_size)) = self.primitive(lane).point else { return 0 };
        let axis = component as usize & 1;
        let place = self.place(Place::Center, lane);
        ((self.pixel(lane)[axis] as f32 + place[axis] - corner[axis]) * inverse_size).to_bits()
    }
}

fn is_varying(builtin: Builtin) -> bool {
    matches!(builtin, Builtin::ClipDistance | Builtin::CullDistance)
}

/// A sample's place in its pixel, 0 to 1.
fn sample_place(samples: u32, sample: u32) -> [f32; 2] {
    let positions = raster::sample_positions(samples);
    positions[sample as usize % positions.len()].map(|units| units as f32 / UNITS as f32)
}

/// Depth of a primitive at an offset from its reference point.
#[inline(always)]
pub(super) fn depth_at(primitive: &Primitive, x: f32, y: f32) -> f32 {
    let [near, far] = primitive.depth_range;
    primitive.depth.at(x, y).max(near).min(far)
}

/// Depths at the centres of the pixels of the quad at (`x`, `y`).
pub(super) fn depths_at_centres(primitive: &Primitive, [x, y]: [u32; 2]) -> [f32; 4] {
    let along =
        |first: u32, axis: usize| [first, first + 1].map(|at| at as f32 - primitive.reference[axis] + CENTRE[axis]);
    let ([left, right], [upper, lower]) = (along(x, 0), along(y, 1));
    [[left, upper], [right, upper], [left, lower], [right, lower]].map(|[x, y]| depth_at(primitive, x, y))
}

/// Depth at a sample of a pixel.
pub(super) fn depth_at_sample(primitive: &Primitive, (x, y): (u32, u32), samples: u32, sample: u32) -> f32 {
    let [px, py] = sample_place(samples, sample);
    depth_at(primitive, x as f32 - primitive.reference[0] + px, y as f32 - primitive.reference[1] + py)
}

impl Interpolator for WaveFragments<'_> {
    fn at_offset(&self, slot: u32, lane: usize, [dx, dy]: [f32; 2]) -> u32 {
        if lane / 4 >= self.quads.len() {
            return 0;
        }
        let input = &self.program.inputs[slot as usize];
        self.varying(slot as usize, input.interpolation, lane, [0.5 + dx, 0.5 + dy])
    }

    fn sample_offset(&self, sample: u32) -> [f32; 2] {
        sample_place(self.samples, sample).map(|place| place - 0.5)
    }

    fn centroid_offset(&self, lane: usize) -> [f32; 2] {
        if lane / 4 >= self.quads.len() { [0.0; 2] } else { self.centroid(lane).map(|place| place - 0.5) }
    }
}
