//! Addressing: conversion of coordinates to texels along an axis, and of texels to addresses.

use ash::vk;
use vitric_format::WHOLE;
use vitric_ir::{BinaryOp as B, Space, TernaryOp as T, Type, UnaryOp as U, Value};

use super::{Layout, RoutineBuilder, word};

/// Maximum magnitude of texel coordinates.
///
/// In this range single-precision floats represent every half. The sum of [`WHOLE`] and the floor
/// of a coordinate minus 1/2 is an integer.
pub(in crate::texture) const MAX_COORDINATE: f32 = 4_194_303.0;

/// Number of texels along each side of a line.
const SIDE: u32 = 8;

/// Level that is being read. Its words are uniform over the lanes.
#[derive(Clone, Copy)]
pub(super) struct Level {
    /// Offset in bytes from the words of level 0 in the push constants to those of this level.
    first: Value,
    /// Number of texels along each axis.
    pub(super) size: [Value; 3],
    /// Number of the level.
    pub(super) number: Value,
}

/// Texel along one axis.
#[derive(Clone, Copy)]
pub(super) struct Tap {
    /// Index inside of the image.
    pub(super) index: Value,
    /// Condition that the original index was in bounds, if texels out of bounds are the border.
    pub(super) inside: Option<Value>,
}

/// Pair of texels that linear filtering reads along an axis, and the weight of the second.
pub(super) struct Pair {
    pub(super) taps: [Tap; 2],
    pub(super) weight: Value,
}

impl RoutineBuilder<'_> {
    /// Returns the level with this number.
    pub(super) fn level(&mut self, number: Value) -> Level {
        let bytes = self.b.int(word::LEVEL * 4);
        let first = self.b.binary(B::IMul, number, bytes);
        let zero = self.b.int(0);
        let mut level = Level { first, size: [zero; 3], number };
        level.size = [0, 1, 2].map(|axis| self.level_word(&level, word::SIZE + axis));
        level
    }

    fn level_word(&mut self, level: &Level, word: u32) -> Value {
        self.typed_level_word(level, word, Type::I32)
    }

    fn typed_level_word(&mut self, level: &Level, word: u32, ty: Type) -> Value {
        self.b.load(Space::Levels((word::LEVELS + word) * 4), level.first, ty)
    }

    /// Returns the number of texels along an axis, as a float.
    pub(super) fn length(&mut self, level: &Level, axis: usize) -> Value {
        self.typed_level_word(level, word::LENGTH + axis as u32, Type::F32)
    }

    /// Returns the last index along an axis.
    pub(super) fn last(&mut self, level: &Level, axis: usize) -> Value {
        self.level_word(level, word::LAST + axis as u32)
    }

    /// Converts a coordinate to texels. NaN is far outside.
    fn texels(&mut self, coordinate: Value, level: &Level, axis: usize) -> Value {
        let mut texels = coordinate;
        if !self.state.unnormalized {
            let length = self.length(level, axis);
            texels = self.b.binary(B::FMul, coordinate, length);
        }
        let (low, high) = (self.b.float(-MAX_COORDINATE), self.b.float(MAX_COORDINATE));
        let texels = self.b.binary(B::FMax, low, texels);
        self.b.binary(B::FMin, texels, high)
    }

    /// Converts an integral number of texels to an integer. The addition of [`WHOLE`] is cheaper
    /// than a conversion, which would check for NaN and for the range.
    fn index_of(&mut self, texels: Value) -> Value {
        let (whole, bits) = (self.b.float(WHOLE), self.b.int(WHOLE.to_bits()));
        let sum = self.b.binary(B::FAdd, texels, whole);
        let sum = self.b.cast(sum, Type::I32);
        let index = self.b.binary(B::ISub, sum, bits);
        self.index_floats.push((index, texels));
        index
    }

    /// Returns an index as a float, reusing the float that it was converted from.
    fn as_float(&mut self, index: Value) -> Value {
        match self.index_floats.iter().find(|(known, _)| *known == index) {
            Some(&(_, texels)) => texels,
            None => self.b.unary(U::SToF, index),
        }
    }

    /// Converts an index to an integer and adds the instruction's offset.
    fn with_offset(&mut self, low: Value, axis: usize) -> Value {
        let index = self.index_of(low);
        match self.request.offset.get(axis) {
            Some(&offset) => {
                let offset = self.operand(offset, Type::I32);
                // All valid offsets are in the range -64 to 63.
                let (least, most) = (self.b.int(-64i32 as u32), self.b.int(63));
                let offset = self.b.binary(B::SMax, offset, least);
                let offset = self.b.binary(B::SMin, offset, most);
                self.b.binary(B::IAdd, index, offset)
            }
            None => index,
        }
    }

    /// Returns the index of the texel that contains a coordinate, before wrapping.
    pub(super) fn nearest(&mut self, coordinate: Value, level: &Level, axis: usize) -> Value {
        let texels = self.texels(coordinate, level, axis);
        let low = self.b.unary(U::Floor, texels);
        self.with_offset(low, axis)
    }

    /// Returns the lower of the two texels whose centres are on both sides of a coordinate, before
    /// wrapping, and the weight of the other texel.
    pub(super) fn linear_base(&mut self, coordinate: Value, level: &Level, axis: usize) -> (Value, Value) {
        let (texels, half) = (self.texels(coordinate, level, axis), self.b.float(0.5));
        let centred = self.b.binary(B::FSub, texels, half);
        let low = self.b.unary(U::Floor, centred);
        let weight = self.b.binary(B::FSub, centred, low);
        (self.with_offset(low, axis), weight)
    }

    /// Returns the pair of texels whose centres are on both sides of a coordinate, wrapped into
    /// the image.
    pub(super) fn pair(&mut self, coordinate: Value, level: &Level, axis: usize) -> Pair {
        let (low, weight) = self.linear_base(coordinate, level, axis);
        let (first, one) = (self.wrapped(low, level, axis), self.b.int(1));
        let second = match self.state.address_mode[axis] {
            vk::SamplerAddressMode::REPEAT if !self.state.powers_of_two[axis] => {
                let next = self.b.binary(B::IAdd, first.index, one);
                Tap { index: self.wrapped_once(next, level.size[axis]), inside: None }
            }
            _ => {
                let high = self.b.binary(B::IAdd, low, one);
                self.wrapped(high, level, axis)
            }
        };
        Pair { taps: [first, second], weight }
    }

    /// Wraps an index according to the sampler's address mode.
    pub(super) fn wrapped(&mut self, index: Value, level: &Level, axis: usize) -> Tap {
        let (size, last) = (level.size[axis], self.last(level, axis));
        let index = match self.state.address_mode[axis] {
            vk::SamplerAddressMode::REPEAT if self.state.powers_of_two[axis] => self.b.binary(B::And, index, last),
            vk::SamplerAddressMode::REPEAT => self.remainder(index, level, (axis, false)),
            vk::SamplerAddressMode::MIRRORED_REPEAT => {
                let both = self.b.binary(B::IAdd, size, last);
                let turn = if self.state.powers_of_two[axis] {
                    self.b.binary(B::And, index, both)
                } else {
                    self.remainder(index, level, (axis, true))
                };
                let back = self.b.binary(B::ISub, both, turn);
                self.b.binary(B::SMin, turn, back)
            }
            vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE => {
                let all = self.b.int(31);
                let sign = self.b.binary(B::ShrArithmetic, index, all);
                let index = self.b.binary(B::Xor, index, sign);
                self.b.binary(B::SMin, index, last)
            }
            vk::SamplerAddressMode::CLAMP_TO_BORDER => {
                let inside = self.b.binary(B::ULt, index, size);
                let index = self.b.binary(B::UMin, index, last);
                return Tap { index, inside: Some(inside) };
            }
            _ => {
                let zero = self.b.int(0);
                let index = self.b.binary(B::SMax, index, zero);
                self.b.binary(B::SMin, index, last)
            }
        };
        Tap { index, inside: None }
    }

    /// Returns `index` modulo the size along an axis, or modulo `twice` the size. The result is
    /// not negative.
    fn remainder(&mut self, index: Value, level: &Level, (axis, twice): (usize, bool)) -> Value {
        // Indices are below 2^22 plus the largest offset. The error of the product is therefore at
        // most slightly more than half of the divisor's inverse. Its floor is correct unless the
        // quotient is an integer. Then the floor may be one too small, and the remainder equals
        // the divisor.
        let inverse = self.typed_level_word(level, word::INVERSE + axis as u32, Type::F32);
        let (mut size, mut divisor) = (level.size[axis], self.length(level, axis));
        let dividend = self.as_float(index);
        let mut quotient = self.b.binary(B::FMul, dividend, inverse);
        if twice {
            let half = self.b.float(0.5);
            quotient = self.b.binary(B::FMul, quotient, half);
            (size, divisor) = (self.b.binary(B::IAdd, size, size), self.b.binary(B::FAdd, divisor, divisor));
        }
        // The inverse is negative. The ceiling is therefore the negated quotient, as the
        // subtraction needs it.
        let turns = self.b.unary(U::Ceil, quotient);
        let rest = self.b.ternary(T::Fma, turns, divisor, dividend);
        let rest = self.index_of(rest);
        self.wrapped_once(rest, size)
    }

    /// Returns `index`, or 0 if it equals the size. `index` must be at most the size.
    fn wrapped_once(&mut self, index: Value, size: Value) -> Value {
        // For all smaller indices the difference is negative, which is large as an unsigned
        // number.
        let before = self.b.binary(B::ISub, index, size);
        self.b.binary(B::UMin, index, before)
    }

    /// Returns the size of a texel in memory, in bytes.
    pub(super) fn texel_bytes(&self) -> u32 {
        let plane = self.info.planes().find(|plane| plane.aspect == self.state.aspect);
        plane.map_or(self.info.bytes, |plane| plane.stride)
    }

    /// Returns the address of the texel, or of its first sample, at a column, row, and slice or
    /// layer.
    pub(super) fn address(&mut self, [x, y, slice]: [Value; 3], level: &Level) -> Value {
        let (column, row) = (self.column(x), self.row(y, level));
        // The texels of a row share this sum.
        let slice = self.slice(slice, level);
        let row = self.b.binary(B::IAdd, row, slice);
        self.b.binary(B::IAdd, row, column)
    }

    /// Returns the byte offset of a column. In the layout of lines, bits 0, 1-2 and 3 upwards of x
    /// are at bits 0, 2-3 and 6 upwards of the texel's index.
    fn column(&mut self, x: Value) -> Value {
        if self.state.layout == Layout::Lines {
            let (place, line) = (self.offset_in_line(x, |x| x & 1 | (x & 6) << 1), self.b.int(!7));
            let line = self.b.binary(B::And, x, line);
            let from_first = self.times(line, self.texel_bytes() << (3 + self.state.samples_log2));
            return self.b.binary(B::IAdd, place, from_first);
        }
        self.times(x, self.texel_bytes())
    }

    /// Returns the byte offset of a row.
    fn row(&mut self, y: Value, level: &Level) -> Value {
        let pitch = self.level_word(level, word::ROW);
        if self.state.layout != Layout::Lines {
            return self.b.binary(B::IMul, y, pitch);
        }
        let (place, three) = (self.offset_in_line(y, |y| (y & 1) << 1 | (y & 6) << 3), self.b.int(3));
        let line = self.b.binary(B::ShrLogical, y, three);
        let line = self.b.binary(B::IMul, line, pitch);
        self.b.binary(B::IAdd, place, line)
    }

    /// Returns the byte offset of a layer or slice in a level, including the level's offset.
    fn slice(&mut self, slice: Value, level: &Level) -> Value {
        let (pitch, start) = (self.level_word(level, word::SLICE), self.level_word(level, word::OFFSET));
        let slice = self.b.binary(B::IMul, slice, pitch);
        self.b.binary(B::IAdd, slice, start)
    }

    /// Returns the byte offset that the three low bits of a coordinate add within a line. The
    /// lookup in this table of eight words is one permutation of a register.
    fn offset_in_line(&mut self, coordinate: Value, place: impl Fn(u32) -> u32) -> Value {
        let (bytes, low) = (self.texel_bytes(), self.b.int(SIDE - 1));
        let table = self.b.table((0..SIDE).map(|coordinate| place(coordinate) * bytes).collect());
        let index = self.b.binary(B::And, coordinate, low);
        self.b.table_load(table, index, Type::I32)
    }

    fn times(&mut self, value: Value, factor: u32) -> Value {
        let is_shift = factor.is_power_of_two();
        let (op, by) = if is_shift { (B::Shl, factor.ilog2()) } else { (B::IMul, factor) };
        let by = self.b.int(by);
        self.b.binary(op, value, by)
    }
}
