//! Interpolation as IR: computes each input word of a fragment program from the words of its
//! primitive and the position of the fragment.

use std::borrow::Cow;

use vitric_exec::Program;
use vitric_ir::interface::{Builtin, InputSlot, Interpolation, Place, Slot};
use vitric_ir::{BinaryOp as B, Builder, Inst, InterpolateAt, TernaryOp as T, Type, UnaryOp as U, Value};

use super::{Form, KernelInput, Linker, PrimitiveBatch};
use crate::geometry::Varies;
use crate::raster::Shape;
use crate::raster::UNITS;
use crate::state::MultisampleState;

/// Position in a fragment at which inputs are evaluated: x and y, in pixels from the fragment's
/// first corner.
type At = [Value; 2];

/// Generator of a fragment program's inputs.
pub(super) struct Inputs<'a> {
    program: &'a Program,
    form: Form,
    /// True if each sample is shaded separately.
    by_sample: bool,
    /// Sample that is shaded, if known at compile time.
    sample: Option<u32>,
    samples: u32,
    /// Values that vary within primitives.
    varies: Varies,
    /// Locations of the samples in a pixel, in `UNITS`.
    locations: Cow<'static, [[i64; 2]]>,
}

impl<'a> Inputs<'a> {
    pub(super) fn new(program: &'a Program, form: Form, (by_sample, state): (bool, &MultisampleState)) -> Self {
        let (samples, locations) = (state.samples, state.locations());
        Self { program, form, by_sample, sample: None, samples, varies: Varies::ALL, locations }
    }

    /// Restricts the inputs to one sample, if `sample` is given.
    pub(super) fn of_sample(self, sample: Option<u32>) -> Self {
        Self { by_sample: self.by_sample || sample.is_some(), sample, ..self }
    }

    /// Sets the values that vary within primitives.
    pub(super) fn that_vary(self, varies: Varies) -> Self {
        Self { varies, ..self }
    }

    /// Returns input word `slot`.
    pub(super) fn word(&self, linker: &mut Linker, slot: usize, ty: Type) -> Value {
        let input = self.program.inputs[slot];
        let value = match input.slot {
            Slot::Builtin(Builtin::PointCoord, axis) => self.point_coord(linker, slot, axis as usize & 1),
            Slot::Builtin(builtin, component) if !input.slot.is_varying() => self.builtin(linker, builtin, component),
            _ => {
                let place = self.place(linker, input.place);
                self.varying(linker, slot, place)
            }
        };
        linker.b.cast(value, ty)
    }

    /// Returns input word `slot` at another position than the declared one.
    pub(super) fn interpolated(&self, linker: &mut Linker, slot: usize, at: InterpolateAt, ty: Type) -> Value {
        let place = match at {
            InterpolateAt::Centroid => self.place(linker, Place::Centroid),
            InterpolateAt::Sample(sample) => self.sample_place(linker, sample),
            InterpolateAt::Offset(x, y) => {
                let centre = self.centre(linker);
                [(x, centre[0]), (y, centre[1])].map(|(offset, centre)| linker.b.binary(B::FAdd, offset, centre))
            }
        };
        let value = self.varying(linker, slot, place);
        linker.b.cast(value, ty)
    }

    fn place(&self, linker: &mut Linker, place: Place) -> At {
        if let Some(sample) = self.sample {
            return self.known_place(linker, sample as usize);
        }
        if self.by_sample {
            return [0, 1].map(|axis| linker.input(KernelInput::Place(axis), Type::F32));
        }
        match place {
            // With one sample, the centre of a covered pixel is always covered.
            Place::Centroid if self.samples > 1 && linker.place.is_some() => self.centroid(linker),
            Place::Centroid if self.samples > 1 || self.form == Form::Coarse => {
                [0, 1].map(|axis| linker.input(KernelInput::Centroid(axis), Type::F32))
            }
            _ => self.centre(linker),
        }
    }

    /// Returns the centre if all samples are covered, else the first covered sample, like
    /// `WaveFragments::centroid`.
    fn centroid(&self, linker: &mut Linker) -> At {
        let (centre, covered) = (self.centre(linker), linker.covered.clone());
        let Some(all) = covered.iter().copied().reduce(|all, covered| linker.b.binary(B::LogicalAnd, all, covered))
        else {
            return centre;
        };
        let mut place = centre;
        for (sample, &covered) in covered.iter().enumerate().rev() {
            let at = self.known_place(linker, sample);
            place = [0, 1].map(|axis| linker.b.select(covered, at[axis], place[axis]));
        }
        [0, 1].map(|axis| linker.b.select(all, centre[axis], place[axis]))
    }

    /// Returns the centre of a fragment.
    fn centre(&self, linker: &mut Linker) -> At {
        match self.form {
            Form::Coarse => [0, 1].map(|axis| linker.input(KernelInput::Centre(axis), Type::F32)),
            _ => [linker.b.float(0.5); 2],
        }
    }

    /// Returns the position of a sample. In a fragment of several pixels that have samples of
    /// their own, this is the sample of the first pixel.
    fn sample_place(&self, linker: &mut Linker, sample: Value) -> At {
        if self.samples == 1 {
            return self.centre(linker);
        }
        let positions = &self.locations;
        [0, 1].map(|axis| {
            let places = positions.iter().map(|place| (place[axis] as f32 / UNITS as f32).to_bits());
            let table = linker.b.table(places.collect());
            let (last, result) = (linker.b.int(positions.len() as u32 - 1), linker.b.value(Type::F32));
            // Samples that do not exist may have any position.
            let index = linker.b.binary(B::UMin, sample, last);
            linker.b.push(Inst::TableLoad { result, table, index });
            match self.form {
                Form::Coarse => {
                    let pixels = linker.input(KernelInput::SampleArea(axis), Type::F32);
                    linker.b.binary(B::FMul, result, pixels)
                }
                _ => result,
            }
        })
    }

    /// Returns a word of the primitive.
    fn primitive(&self, linker: &mut Linker, word: u32, ty: Type) -> Value {
        match (self.form, linker.of_second) {
            (Form::Alone, Some(of_second)) => {
                let next = linker.b.int(1);
                let [first, second] = [None, Some(next)].map(|of| linker.b.parameter(word, of, ty));
                linker.b.select(of_second, second, first)
            }
            (Form::Alone, None) => linker.b.parameter(word, linker.of, ty),
            (Form::Packed | Form::Coarse, _) => linker.input(KernelInput::Primitive(word), ty),
        }
    }

    /// Returns a word that is constant within the primitive. Both primitives of an edge pair have
    /// an equal word.
    fn constant(&self, linker: &mut Linker, word: u32, ty: Type) -> Value {
        if linker.batch == PrimitiveBatch::EdgePair {
            return linker.b.parameter(word, None, ty);
        }
        self.primitive(linker, word, ty)
    }

    /// Returns the offset of a position from the primitive's reference point.
    fn offset(&self, linker: &mut Linker, place: At) -> At {
        [0, 1].map(|axis| {
            let pixel = linker.pixel(axis);
            let reference = self.primitive(linker, Shape::REFERENCE + axis as u32, Type::F32);
            let pixel = linker.b.binary(B::FSub, pixel, reference);
            linker.b.binary(B::FAdd, pixel, place[axis])
        })
    }

    /// Returns `Plane::interpolated` of the plane that starts at `word`.
    fn plane(&self, linker: &mut Linker, word: u32, [x, y]: At) -> Value {
        let [origin, dx, dy] = [0, 1, 2].map(|index| self.primitive(linker, word + index, Type::F32));
        let along_y = linker.b.ternary(T::Fma, dy, y, origin);
        linker.b.ternary(T::Fma, dx, x, along_y)
    }

    /// Multiplies alpha by the part of the fragment that a smooth line covers.
    ///
    /// Each of the two pairs of opposite sides covers a part of the fragment, and the result is
    /// the product of both. The planes of the sides start at word `first`.
    pub(super) fn smoothed(&self, linker: &mut Linker, alpha: Value, first: u32) -> Value {
        let (zero, one) = (linker.b.float(0.0), linker.b.float(1.0));
        // Coverage is that of the whole fragment, even if samples are shaded separately.
        let centre = self.centre(linker);
        let offset = self.offset(linker, centre);
        // All sides are parallel or at right angles, so their slopes are equal except for order
        // and signs.
        let slopes = [0, 1].map(|axis| {
            let slope = self.primitive(linker, first + 1 + axis as u32, Type::F32);
            let slope = linker.b.unary(U::FAbs, slope);
            match self.form {
                // The slope is converted to the change across the whole fragment.
                Form::Coarse => {
                    let size = linker.b.binary(B::FAdd, centre[axis], centre[axis]);
                    linker.b.binary(B::FMul, slope, size)
                }
                _ => slope,
            }
        });
        let mut part = one;
        for pair in [0, 2] {
            let [from, to] = [pair, pair + 1].map(|side| {
                let distance = self.plane(linker, first + side * 3, offset);
                part_of_pixel(&mut linker.b, distance, slopes)
            });
            let sum = linker.b.binary(B::FAdd, from, to);
            let sum = linker.b.binary(B::FSub, sum, one);
            let sum = linker.b.binary(B::FMax, sum, zero);
            part = linker.b.binary(B::FMul, part, sum);
        }
        let alpha = linker.b.cast(alpha, Type::F32);
        linker.b.binary(B::FMul, alpha, part)
    }

    fn varying(&self, linker: &mut Linker, slot: usize, place: At) -> Value {
        let first = Shape::first_word(slot);
        let input = self.program.inputs[slot];
        let interpolation = input.interpolation;
        if is_constant(interpolation, self.varies.input(slot)) {
            return self.constant(linker, first, Type::F32);
        }
        let offset = self.offset(linker, place);
        let value = self.plane(linker, first, offset);
        if interpolation == Interpolation::NoPerspective || !self.varies.w() {
            return value;
        }
        let (inverse_w, one) = (self.plane(linker, Shape::INVERSE_W, offset), linker.b.float(1.0));
        if input.slot.is_weight() {
            // A division, unlike a product with the reciprocal, returns exactly 1 if both planes
            // are equal.
            return linker.b.binary(B::FDiv, value, inverse_w);
        }
        let w = linker.b.binary(B::FDiv, one, inverse_w);
        linker.b.binary(B::FMul, value, w)
    }

    fn builtin(&self, linker: &mut Linker, builtin: Builtin, component: u32) -> Value {
        match builtin {
            Builtin::FragCoord => self.frag_coord(linker, component),
            Builtin::FrontFacing => self.constant(linker, Shape::FRONT, Type::I32),
            Builtin::SampleId if self.by_sample => match self.sample {
                Some(sample) => linker.b.int(sample),
                None => linker.input(KernelInput::Sample, Type::I32),
            },
            Builtin::SamplePosition => self.place(linker, Place::Sample)[component as usize & 1],
            Builtin::SampleMask => linker.input(KernelInput::Coverage, Type::I32),
            Builtin::HelperInvocation => linker.input(KernelInput::Helper, Type::I32),
            Builtin::FullyCovered => linker.input(KernelInput::FullyCovered, Type::I32),
            Builtin::PrimitiveId => self.primitive(linker, Shape::ID, Type::I32),
            Builtin::ShadingRateKhr if self.form == Form::Coarse => linker.input(KernelInput::Rate, Type::I32),
            Builtin::FragSize => self.fragment_size(linker, component),
            Builtin::FragInvocationCount => linker.b.int(if self.by_sample { self.samples } else { 1 }),
            Builtin::FirstPixel => linker.pixel(component as usize & 1),
            _ => linker.b.int(0),
        }
    }

    /// Returns the width or height of a fragment, in pixels.
    fn fragment_size(&self, linker: &mut Linker, axis: u32) -> Value {
        let one = linker.b.int(1);
        if self.form != Form::Coarse {
            return one;
        }
        // `Rate::word` has log2 of the height in bits 0 and 1, and log2 of the width above.
        let rate = linker.input(KernelInput::Rate, Type::I32);
        let (first, mask) = (linker.b.int(if axis == 0 { 2 } else { 0 }), linker.b.int(3));
        let log2 = linker.b.binary(B::ShrLogical, rate, first);
        let log2 = linker.b.binary(B::And, log2, mask);
        linker.b.binary(B::Shl, one, log2)
    }

    /// Returns the window coordinate of a position along an axis.
    fn position(&self, linker: &mut Linker, axis: usize, place: At) -> Value {
        let pixel = linker.pixel(axis);
        linker.b.binary(B::FAdd, pixel, place[axis])
    }

    fn frag_coord(&self, linker: &mut Linker, component: u32) -> Value {
        let place = self.place(linker, Place::Center);
        match component {
            0 | 1 => self.position(linker, component as usize, place),
            2 => self.interpolated_depth(linker, place),
            _ if !self.varies.w() => linker.b.float(1.0),
            _ => {
                let offset = self.offset(linker, place);
                self.plane(linker, Shape::INVERSE_W, offset)
            }
        }
    }

    /// Returns the depth of a sample, clamped to the depth range.
    pub(super) fn depth_of_sample(&self, linker: &mut Linker, sample: usize) -> Value {
        let place = self.known_place(linker, sample);
        self.depth(linker, place)
    }

    fn known_place(&self, linker: &mut Linker, sample: usize) -> At {
        self.locations[sample].map(|units| linker.b.float(units as f32 / UNITS as f32))
    }

    /// Returns the depth that programs see, like `Plane::at`.
    ///
    /// Source: Vulkan specification, "Built-In Variables" (`FragCoord`). Clamping comes after the
    /// program, see "Depth Clamping and Range Adjustment".
    fn interpolated_depth(&self, linker: &mut Linker, place: At) -> Value {
        if !self.varies.depth() {
            return self.constant(linker, Shape::DEPTH, Type::F32);
        }
        let [x, y] = self.offset(linker, place);
        let [origin, dx, dy] = [0, 1, 2].map(|index| self.primitive(linker, Shape::DEPTH + index, Type::F32));
        let along_x = linker.b.binary(B::FMul, dx, x);
        let value = linker.b.binary(B::FAdd, origin, along_x);
        let along_y = linker.b.binary(B::FMul, dy, y);
        linker.b.binary(B::FAdd, value, along_y)
    }

    /// Returns the depth that is tested, clamped to the depth range.
    fn depth(&self, linker: &mut Linker, place: At) -> Value {
        let value = self.interpolated_depth(linker, place);
        self.in_range(linker, value)
    }

    /// Clamps a depth to the depth range before it is tested and stored.
    pub(super) fn in_range(&self, linker: &mut Linker, value: Value) -> Value {
        let [near, far] = [0, 1].map(|index| self.constant(linker, Shape::DEPTH_RANGE + index, Type::F32));
        // If one operand is NaN, the result is the first operand.
        let value = linker.b.binary(B::FMax, near, value);
        linker.b.binary(B::FMin, far, value)
    }

    fn point_coord(&self, linker: &mut Linker, slot: usize, axis: usize) -> Value {
        let place = self.place(linker, Place::Center);
        let position = self.position(linker, axis, place);
        let [corner, inverse_size] =
            [0, 1].map(|word| self.primitive(linker, Shape::first_word(slot) + word, Type::F32));
        let from_corner = linker.b.binary(B::FSub, position, corner);
        linker.b.binary(B::FMul, from_corner, inverse_size)
    }
}

/// Returns true if an input is constant within a primitive. `varies` is true if its values differ
/// between the corners.
fn is_constant(interpolation: Interpolation, varies: bool) -> bool {
    interpolation == Interpolation::Flat || interpolation.vertex().is_some() || !varies
}

/// Returns the indices of the words that must be equal in both primitives of an edge pair.
/// `varies` are the values that vary within a primitive.
pub(super) fn shared_words(program: Option<&Program>, varies: Varies) -> Vec<u32> {
    let inputs = program.into_iter().flat_map(|program| program.inputs.iter().enumerate());
    let word = |(number, input): (usize, &InputSlot)| match input.slot {
        Slot::Builtin(Builtin::FrontFacing, _) => Some(Shape::FRONT),
        slot => (slot.is_varying() && is_constant(input.interpolation, varies.input(number)))
            .then(|| Shape::first_word(number)),
    };
    let depth = (!varies.depth()).then_some(Shape::DEPTH);
    [0, 1].map(|end| Shape::DEPTH_RANGE + end).into_iter().chain(depth).chain(inputs.filter_map(word)).collect()
}

/// Returns the part of a fragment on the inner side of a line.
///
/// `distance` is the distance of the centre from the line. `[x, y]` is the change of the distance
/// across the fragment along each axis.
fn part_of_pixel(b: &mut Builder, distance: Value, [x, y]: [Value; 2]) -> Value {
    let [zero, half, one, least] = [0.0, 0.5, 1.0, 1e-6].map(|value| b.float(value));
    let (long, short) = (b.binary(B::FMax, x, y), b.binary(B::FMin, x, y));
    let (away, is_inside) = (b.unary(U::FAbs, distance), b.binary(B::FLe, zero, distance));
    // If the line crosses opposite sides of the fragment, the smaller part is a trapezium, else a
    // triangle.
    let share = b.binary(B::FDiv, away, long);
    let trapezium = b.binary(B::FSub, half, share);
    let sum = b.binary(B::FAdd, long, short);
    let reach = b.binary(B::FMul, half, sum);
    let rest = b.binary(B::FSub, reach, away);
    let rest = b.binary(B::FMax, rest, zero);
    let (square, product) = (b.binary(B::FMul, rest, rest), b.binary(B::FMul, long, short));
    let product = b.binary(B::FMax, product, least);
    let double = b.binary(B::FAdd, product, product);
    let triangle = b.binary(B::FDiv, square, double);
    // The base of the triangle is at most one side.
    let is_triangle = b.binary(B::FLe, rest, short);
    let smaller = b.select(is_triangle, triangle, trapezium);
    let larger = b.binary(B::FSub, one, smaller);
    b.select(is_inside, larger, smaller)
}
