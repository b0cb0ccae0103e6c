//! Cube maps: faces, and the texels beyond a face's edge.
//!
//! Source: Vulkan specification, "Cube Map Face Selection" and "Cube Map Edge Handling".

use vitric_ir::{BinaryOp as B, Inst, Type, UnaryOp as U, Value};

use super::RoutineBuilder;
use super::address::Level;

/// Face, in the order +x -x +y -y +z -z.
#[derive(Clone, Copy)]
pub(super) struct Face {
    is_y: Value,
    is_z: Value,
    is_negative: Value,
    /// Number of the face, 0 to 5.
    pub(super) number: Value,
}

impl RoutineBuilder<'_> {
    /// Returns the face that a direction meets.
    fn face_of(&mut self, [x, y, z]: [Value; 3]) -> Face {
        let [ax, ay, az] = [x, y, z].map(|value| self.b.unary(U::FAbs, value));
        let z_over_x = self.b.binary(B::FLe, ax, az);
        let z_over_y = self.b.binary(B::FLe, ay, az);
        let is_z = self.b.binary(B::LogicalAnd, z_over_x, z_over_y);
        let not_z = self.b.unary(U::LogicalNot, is_z);
        let y_over_x = self.b.binary(B::FLe, ax, ay);
        let is_y = self.b.binary(B::LogicalAnd, not_z, y_over_x);
        let (major, zero) = (self.of_axis((is_y, is_z), [x, y, z]), self.b.float(0.0));
        let is_negative = self.b.binary(B::FLt, major, zero);
        let axes = [0, 2, 4].map(|first| self.b.int(first));
        let first = self.of_axis((is_y, is_z), axes);
        let negative = self.b.cast(is_negative, Type::I32);
        let number = self.b.binary(B::IAdd, first, negative);
        Face { is_y, is_z, is_negative, number }
    }

    fn of_axis(&mut self, (is_y, is_z): (Value, Value), [x, y, z]: [Value; 3]) -> Value {
        let xy = self.b.select(is_y, y, x);
        self.b.select(is_z, z, xy)
    }

    /// Returns `value`, negated on the negative faces.
    fn signed(&mut self, face: &Face, value: Value) -> Value {
        let negated = self.b.unary(U::FNeg, value);
        self.b.select(face.is_negative, negated, value)
    }

    /// Returns the components of a direction, or of its derivative, along a face's s, t and major
    /// axis.
    fn along(&mut self, face: &Face, [x, y, z]: [Value; 3]) -> [Value; 3] {
        let axes = (face.is_y, face.is_z);
        let [minus_y, minus_z] = [y, z].map(|value| self.b.unary(U::FNeg, value));
        let (s_of_x, s_of_z) = (self.signed(face, minus_z), self.signed(face, x));
        let s = self.of_axis(axes, [s_of_x, x, s_of_z]);
        let t_of_y = self.signed(face, z);
        let t = self.of_axis(axes, [minus_y, t_of_y, minus_y]);
        let major = self.of_axis(axes, [x, y, z]);
        [s, t, self.signed(face, major)]
    }

    /// Returns the face that a direction meets and the coordinates there, 0 to 1. The zero
    /// direction meets a face's centre.
    pub(super) fn project(&mut self, direction: [Value; 3]) -> (Face, [Value; 2]) {
        let face = self.face_of(direction);
        let [s, t, axis] = self.along(&face, direction);
        let (zero, half) = (self.b.float(0.0), self.b.float(0.5));
        let meets = self.b.binary(B::FLt, zero, axis);
        let on_face = [s, t].map(|value| {
            let quotient = self.b.binary(B::FDiv, value, axis);
            let scaled = self.b.binary(B::FMul, half, quotient);
            let coordinate = self.b.binary(B::FAdd, scaled, half);
            self.b.select(meets, coordinate, half)
        });
        (face, on_face)
    }

    /// Returns the derivatives of the coordinates on the face, from those of the direction.
    pub(super) fn gradient_on_face(&mut self, direction: [Value; 3], gradient: [Value; 3]) -> [Value; 3] {
        let face = self.face_of(direction);
        let [s, t, axis] = self.along(&face, direction);
        let [ds, dt, daxis] = self.along(&face, gradient);
        let (zero, half) = (self.b.float(0.0), self.b.float(0.5));
        let meets = self.b.binary(B::FLt, zero, axis);
        let square = self.b.binary(B::FMul, axis, axis);
        let [ds, dt] = [(s, ds), (t, dt)].map(|(value, change)| {
            let (grown, lost) = (self.b.binary(B::FMul, change, axis), self.b.binary(B::FMul, value, daxis));
            let difference = self.b.binary(B::FSub, grown, lost);
            let scaled = self.b.binary(B::FMul, half, difference);
            let derived = self.b.binary(B::FDiv, scaled, square);
            self.b.select(meets, derived, zero)
        });
        [ds, dt, zero]
    }

    /// Returns the direction through coordinates of a face, -1 to 1 and beyond.
    fn direction(&mut self, face: &Face, s: Value, t: Value) -> [Value; 3] {
        let axes = (face.is_y, face.is_z);
        let one = self.b.float(1.0);
        let sign = self.signed(face, one);
        let [minus_s, minus_t] = [s, t].map(|value| self.b.unary(U::FNeg, value));
        let (x_of_z, z_of_y, z_of_x) = (self.signed(face, s), self.signed(face, t), self.signed(face, minus_s));
        let x = self.of_axis(axes, [sign, s, x_of_z]);
        let y = self.of_axis(axes, [minus_t, sign, minus_t]);
        let z = self.of_axis(axes, [z_of_x, z_of_y, sign]);
        [x, y, z]
    }

    /// Returns the number of the face and the texel that replace a texel of `face`, which may be
    /// beyond its edge.
    pub(super) fn across_edge(&mut self, face: &Face, [x, y]: [Value; 2], level: &Level) -> [Value; 3] {
        let size = level.size[0];
        let [in_x, in_y] = [x, y].map(|index| self.b.binary(B::ULt, index, size));
        let inside = self.b.binary(B::LogicalAnd, in_x, in_y);
        let outside = self.b.unary(U::LogicalNot, inside);
        let place = self.b.local(3);
        for (word, value) in (0..).zip([face.number, x, y]) {
            self.b.local_store(place, word, None, value);
        }
        self.b.push(Inst::If { condition: outside });
        let length = self.length(level, 0);
        let [s, t] = [x, y].map(|index| self.centre(index, length));
        let direction = self.direction(face, s, t);
        let (met, on_face) = self.project(direction);
        let [x, y] = on_face.map(|coordinate| self.texel_of(coordinate, level));
        for (word, value) in (0..).zip([met.number, x, y]) {
            self.b.local_store(place, word, None, value);
        }
        self.b.push(Inst::EndIf);
        [0, 1, 2].map(|word| self.b.local_load(place, word, None, Type::I32))
    }

    /// Returns the centre of a texel, -1 to 1 on the face.
    fn centre(&mut self, index: Value, length: Value) -> Value {
        let (index, two, one) = (self.b.unary(U::SToF, index), self.b.float(2.0), self.b.float(1.0));
        let twice = self.b.binary(B::FMul, index, two);
        let centre = self.b.binary(B::FAdd, twice, one);
        let share = self.b.binary(B::FDiv, centre, length);
        self.b.binary(B::FSub, share, one)
    }

    fn texel_of(&mut self, coordinate: Value, level: &Level) -> Value {
        let (length, last, zero) = (self.length(level, 0), self.last(level, 0), self.b.int(0));
        let scaled = self.b.binary(B::FMul, coordinate, length);
        let index = self.b.unary(U::FToS, scaled);
        let index = self.b.binary(B::SMax, index, zero);
        self.b.binary(B::SMin, index, last)
    }
}
