//! Extended instructions of GLSL.std.450. Source: "GLSL Extended Instructions for SPIR-V".

use std::rc::Rc;

use spirv::GlslStd450Op as G;
use vitric_ir::{BinaryOp as B, Builder, InterpolateAt, TernaryOp as T, Type, UnaryOp as U, Value, elementary as r};

use super::Translator;
use crate::number::{self, Number};
use crate::parse::Instruction;
use crate::{Error, Result};

/// Fixed-point format of the components of a packed dword.
struct Packing {
    /// Number of bits of a component.
    bits: u32,
    /// Number that represents 1.
    scale: f32,
    /// True if the components are signed.
    signed: bool,
}

impl Packing {
    /// Returns the format that an instruction packs or unpacks.
    fn of(op: G) -> Self {
        let (bits, signed) = match op {
            G::PackSnorm4x8 | G::UnpackSnorm4x8 => (8, true),
            G::PackUnorm4x8 | G::UnpackUnorm4x8 => (8, false),
            G::PackSnorm2x16 | G::UnpackSnorm2x16 => (16, true),
            _ => (16, false),
        };
        let scale = ((1u32 << (bits - u32::from(signed))) - 1) as f32;
        Self { bits, scale, signed }
    }
}

impl Translator<'_> {
    pub(super) fn extended(&mut self, inst: &Instruction) -> Result<()> {
        let (ty, id, set, number) = (inst.word(0)?, inst.word(1)?, inst.word(2)?, inst.word(3)?);
        let op = G::from_u32(number).filter(|_| self.module.glsl.contains(&set));
        let op = op.ok_or_else(|| Error::Unsupported(format!("extended instruction {number}")))?;
        if matches!(op, G::InterpolateAtCentroid | G::InterpolateAtSample | G::InterpolateAtOffset) {
            let words = self.interpolate(op, inst)?;
            return self.define_words(id, ty, words);
        }
        if matches!(op, G::Modf | G::Frexp) {
            return self.split_to_pointer(op, inst);
        }
        let mut a: Vec<Rc<[Value]>> = inst.rest(4).iter().map(|&id| self.words(id)).collect::<Result<_>>()?;
        if number::is_signed_extended(op) {
            self.extend_signs(inst, &mut a)?;
        }
        if let (G::Ldexp, Some(exponents)) = (op, a.get_mut(1)) {
            *exponents = exponents.iter().map(|&word| number::nearest_word(&mut self.builder, word)).collect();
        }
        self.signed_zeros = orders_zeros(op) && self.has_signed_zeros(inst)?;
        let words = match op {
            G::Determinant => vec![self.determinant(inst.word(4)?)?],
            G::MatrixInverse => self.inverse(inst.word(4)?)?,
            G::ModfStruct | G::FrexpStruct => self.split(op, &operand(&a, 0)?),
            G::FindILsb | G::FindSMsb | G::FindUMsb => {
                let numbers = self.vector_function(op, &a, ty)?;
                self.widened(numbers, ty)?
            }
            _ => self.vector_function(op, &a, ty)?,
        };
        let words = self.narrowed(words, ty)?;
        self.define_words(id, ty, words)
    }

    /// Sign-extends narrow integer operands to dwords.
    fn extend_signs(&mut self, inst: &Instruction, operands: &mut [Rc<[Value]>]) -> Result<()> {
        for (index, words) in operands.iter_mut().enumerate() {
            let number = Number::of(self.module, self.operand(inst.word(4 + index)?)?.0)?;
            *words = words.iter().map(|&word| number::signed(&mut self.builder, word, number)).collect();
        }
        Ok(())
    }

    /// Sign-extends dwords to the integer width of a type, if that is greater.
    fn widened(&mut self, words: Vec<Value>, ty: u32) -> Result<Vec<Value>> {
        let is_wide = Number::of(self.module, ty)? == Number::Int(64);
        let widen = |word| if is_wide { self.builder.extend(word, true) } else { word };
        Ok(words.into_iter().map(widen).collect())
    }

    /// Converts dwords, such as results of 32-bit operations, to values of a type's scalars.
    pub(super) fn narrowed(&mut self, words: Vec<Value>, ty: u32) -> Result<Vec<Value>> {
        let numbers = self.numbers(ty)?;
        let narrow = |(word, number)| number::narrow(&mut self.builder, word, number);
        Ok(words.into_iter().zip(numbers).map(narrow).collect())
    }

    fn interpolate(&mut self, op: G, inst: &Instruction) -> Result<Vec<Value>> {
        let pointer = self.pointer(inst.word(4)?)?;
        let at = match op {
            G::InterpolateAtCentroid => InterpolateAt::Centroid,
            G::InterpolateAtSample => InterpolateAt::Sample(self.word(inst.word(5)?)?),
            _ => {
                let offset = self.words(inst.word(5)?)?;
                let [x, y] = offset[..] else { return Err(Error::Malformed("an offset has two components")) };
                InterpolateAt::Offset(x, y)
            }
        };
        self.interpolate_input(&pointer, at)
    }

    /// Returns both results of modf or frexp: all first parts, then all second parts.
    fn split(&mut self, op: G, words: &[Value]) -> Vec<Value> {
        let b = &mut self.builder;
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for &word in words {
            if op == G::ModfStruct || op == G::Modf {
                let whole = b.unary(U::Trunc, word);
                let difference = b.binary(B::FSub, word, whole);
                // The fraction of an infinity is zero. Both parts have the sign of the number.
                let (zero, infinite) = (b.float_like(word, 0.0), r::is_infinite(b, word));
                let fraction = b.select(infinite, zero, difference);
                let (least, size) = (b.float_like(word, -0.0), b.unary(U::FAbs, fraction));
                let sign = on_bits(b, B::And, word, least);
                first.push(on_bits(b, B::Or, size, sign));
                second.push(whole);
            } else {
                let (mantissa, exponent) = r::frexp(b, word);
                first.push(mantissa);
                second.push(exponent);
            }
        }
        first.append(&mut second);
        first
    }

    fn split_to_pointer(&mut self, op: G, inst: &Instruction) -> Result<()> {
        let words = self.words(inst.word(4)?)?;
        let both = self.split(op, &words);
        let (first, second) = both.split_at(words.len());
        let pointer = self.pointer(inst.word(5)?)?;
        let second = self.narrowed(second.to_vec(), pointer.ty)?;
        self.store(&pointer, &second)?;
        let first = self.narrowed(first.to_vec(), inst.word(0)?)?;
        self.define_words(inst.word(1)?, inst.word(0)?, first)
    }

    fn vector_function(&mut self, op: G, a: &[Rc<[Value]>], ty: u32) -> Result<Vec<Value>> {
        let first = &operand(a, 0)?;
        match op {
            G::Length => Ok(vec![self.length(first)?]),
            G::Distance => {
                let difference = self.zip(B::FSub, first, &operand(a, 1)?);
                Ok(vec![self.length(&difference)?])
            }
            G::Normalize => self.normalize(first),
            G::Cross => self.cross(first, &operand(a, 1)?),
            G::FaceForward => self.face_forward(first, &operand(a, 1)?, &operand(a, 2)?),
            G::Reflect => self.reflect(first, &operand(a, 1)?),
            G::Refract => self.refract(first, &operand(a, 1)?, operand(a, 2)?[0]),
            G::PackSnorm4x8 | G::PackUnorm4x8 | G::PackSnorm2x16 | G::PackUnorm2x16 | G::PackHalf2x16 => {
                Ok(vec![self.pack(op, first)])
            }
            G::Radians => self.converted(first, std::f32::consts::PI / 180.0, ty),
            G::Degrees => self.converted(first, 180.0 / std::f32::consts::PI, ty),
            G::PackDouble2x32 => match first[..] {
                [low, high] => Ok(vec![self.builder.join(low, high, Type::F64)]),
                _ => Err(Error::Malformed("a double has two words")),
            },
            G::UnpackDouble2x32 => Ok(self.builder.split(first[0]).to_vec()),
            G::UnpackSnorm4x8 | G::UnpackUnorm4x8 | G::UnpackSnorm2x16 | G::UnpackUnorm2x16 | G::UnpackHalf2x16 => {
                Ok(self.unpack(op, first[0]))
            }
            _ => {
                let count = self.words_of(ty)? as usize;
                let component = |index: usize| {
                    let word = |operand: usize| a.get(operand).and_then(|words| words.get(index)).copied();
                    self.scalar_function(op, [word(0), word(1), word(2)])
                };
                (0..count).map(component).collect()
            }
        }
    }

    fn zip(&mut self, op: B, a: &[Value], b: &[Value]) -> Vec<Value> {
        a.iter().zip(b).map(|(&a, &b)| self.builder.binary(op, a, b)).collect()
    }

    fn scale(&mut self, words: &[Value], factor: Value) -> Vec<Value> {
        words.iter().map(|&word| self.builder.binary(B::FMul, word, factor)).collect()
    }

    /// Returns angles times a factor. The factor is rounded to the angles' type, because formulas
    /// are computed in the precision of their operands.
    fn converted(&mut self, angles: &[Value], factor: f32, ty: u32) -> Result<Vec<Value>> {
        let factor = match Number::of(self.module, ty)? {
            Number::Float(16) => half::f16::from_f32(factor).to_f32(),
            _ => factor,
        };
        Ok(angles.iter().map(|&angle| self.times(angle, factor)).collect())
    }

    fn length(&mut self, words: &[Value]) -> Result<Value> {
        if let [single] = words {
            return Ok(self.builder.unary(U::FAbs, *single));
        }
        let square = self.dot(words, words)?;
        Ok(self.builder.unary(U::Sqrt, square))
    }

    /// Normalizes a vector with one division and products. The error is 1.5 ulp; Vulkan allows 2.5
    /// ulp for a division alone.
    fn normalize(&mut self, words: &[Value]) -> Result<Vec<Value>> {
        let length = self.length(words)?;
        if let [single] = words {
            return Ok(vec![self.builder.binary(B::FDiv, *single, length)]);
        }
        let one = self.builder.float_like(length, 1.0);
        let inverse = self.builder.binary(B::FDiv, one, length);
        Ok(self.scale(words, inverse))
    }

    fn cross(&mut self, a: &[Value], b: &[Value]) -> Result<Vec<Value>> {
        let (&[ax, ay, az], &[bx, by, bz]) = (a, b) else { return Err(Error::Malformed("a cross product of 3")) };
        let mut minor = |p: Value, q: Value, r: Value, s: Value| {
            let (left, right) = (self.builder.binary(B::FMul, p, q), self.builder.binary(B::FMul, r, s));
            self.builder.binary(B::FSub, left, right)
        };
        Ok(vec![minor(ay, bz, by, az), minor(az, bx, bz, ax), minor(ax, by, bx, ay)])
    }

    fn face_forward(&mut self, n: &[Value], incident: &[Value], reference: &[Value]) -> Result<Vec<Value>> {
        let facing = self.dot(reference, incident)?;
        let zero = self.builder.float_like(facing, 0.0);
        let negative = self.builder.binary(B::FLt, facing, zero);
        let flip = |&word: &Value| {
            let flipped = self.builder.unary(U::FNeg, word);
            self.builder.select(negative, word, flipped)
        };
        Ok(n.iter().map(flip).collect())
    }

    fn reflect(&mut self, incident: &[Value], n: &[Value]) -> Result<Vec<Value>> {
        let along = self.dot(n, incident)?;
        let twice = self.times(along, -2.0);
        Ok(incident.iter().zip(n).map(|(&i, &n)| self.builder.ternary(T::Fma, n, twice, i)).collect())
    }

    fn refract(&mut self, incident: &[Value], n: &[Value], eta: Value) -> Result<Vec<Value>> {
        let along = self.dot(n, incident)?;
        let b = &mut self.builder;
        let [zero, one] = [0.0, 1.0].map(|constant| b.float_like(along, constant));
        let square = b.binary(B::FMul, along, along);
        let sine = b.binary(B::FSub, one, square);
        let eta_square = b.binary(B::FMul, eta, eta);
        let sine = b.binary(B::FMul, eta_square, sine);
        let k = b.binary(B::FSub, one, sine);
        let total = b.binary(B::FLt, k, zero);
        let root = b.unary(U::Sqrt, k);
        let scaled = b.binary(B::FMul, eta, along);
        let factor = b.binary(B::FAdd, scaled, root);
        let (bent, change) = (self.scale(incident, eta), self.scale(n, factor));
        let out = self.zip(B::FSub, &bent, &change);
        Ok(out.into_iter().map(|word| self.builder.select(total, zero, word)).collect())
    }

    fn pack(&mut self, op: G, words: &[Value]) -> Value {
        let half = Number::Float(16);
        let words = match op {
            G::PackHalf2x16 if self.constants.flushes(half) => &*words
                .iter()
                .map(|&word| {
                    let word = number::narrow(&mut self.builder, word, half);
                    self.flushed(word, half)
                })
                .collect::<Vec<Value>>(),
            _ => words,
        };
        let b = &mut self.builder;
        let Packing { bits, scale, signed } = Packing::of(op);
        let mut packed = b.int(0);
        for (index, &word) in words.iter().enumerate() {
            let code = if op == G::PackHalf2x16 {
                b.unary(U::FloatToHalf, word)
            } else {
                let (low, high, scale) = (b.float(if signed { -1.0 } else { 0.0 }), b.float(1.0), b.float(scale));
                // NaN becomes the lower bound, like in the specification's formula if `clamp`
                // returns a number.
                let clamped = b.binary(B::FMax, low, word);
                let clamped = b.binary(B::FMin, high, clamped);
                let scaled = b.binary(B::FMul, clamped, scale);
                let rounded = b.unary(U::RoundEven, scaled);
                let code = b.unary(U::FToS, rounded);
                let mask = b.int((1 << bits) - 1);
                b.binary(B::And, code, mask)
            };
            let shift = b.int(index as u32 * bits);
            let shifted = b.binary(B::Shl, code, shift);
            packed = b.binary(B::Or, packed, shifted);
        }
        packed
    }

    fn unpack(&mut self, op: G, word: Value) -> Vec<Value> {
        let Packing { bits, scale, signed } = Packing::of(op);
        let mut out = Vec::new();
        for index in 0..32 / bits {
            let b = &mut self.builder;
            let (offset, count) = (b.int(index * bits), b.int(bits));
            let extract = if signed { r::extract_signed } else { r::extract_unsigned };
            let code = extract(b, word, offset, count);
            if op == G::UnpackHalf2x16 {
                let half = b.unary(U::HalfToFloat, code);
                out.push(self.flushed(half, Number::Float(16)));
                continue;
            }
            let float = b.unary(if signed { U::SToF } else { U::UToF }, code);
            let scale = b.float(scale);
            let value = b.binary(B::FDiv, float, scale);
            let low = b.float(-1.0);
            out.push(if signed { b.binary(B::FMax, value, low) } else { value });
        }
        out
    }

    /// Returns the determinant of a square matrix by expansion along the first column. Fused
    /// multiply-adds halve the number of roundings.
    fn determinant(&mut self, id: u32) -> Result<Value> {
        let columns = self.columns(id)?;
        self.minor_determinant(&columns)
    }

    fn minor_determinant(&mut self, columns: &[Vec<Value>]) -> Result<Value> {
        if columns.is_empty() || columns.iter().any(|column| column.len() != columns.len()) {
            return Err(Error::Malformed("a matrix that is not square"));
        }
        if columns.len() == 1 {
            return Ok(columns[0][0]);
        }
        let mut sum = None;
        for row in 0..columns.len() {
            let minor = self.minor_determinant(&without(columns, 0, row))?;
            let factor = columns[0][row];
            let factor = if row % 2 == 0 { factor } else { self.builder.unary(U::FNeg, factor) };
            sum = Some(match sum {
                None => self.builder.binary(B::FMul, factor, minor),
                Some(sum) => self.builder.ternary(T::Fma, factor, minor, sum),
            });
        }
        sum.ok_or(Error::Malformed("an empty matrix"))
    }

    /// Returns the inverse: cofactors divided by the determinant.
    fn inverse(&mut self, id: u32) -> Result<Vec<Value>> {
        let columns = self.columns(id)?;
        let determinant = self.minor_determinant(&columns)?;
        let size = columns.len();
        let mut out = Vec::new();
        for column in 0..size {
            for row in 0..size {
                // The cofactors are transposed: entry (row, column) is the cofactor of (column,
                // row).
                let minor = match size {
                    1 => self.builder.float_like(determinant, 1.0),
                    _ => self.minor_determinant(&without(&columns, row, column))?,
                };
                let signed = if (row + column) % 2 == 0 { minor } else { self.builder.unary(U::FNeg, minor) };
                out.push(self.builder.binary(B::FDiv, signed, determinant));
            }
        }
        Ok(out)
    }

    fn scalar_function(&mut self, op: G, [x, y, z]: [Option<Value>; 3]) -> Result<Value> {
        let x = x.ok_or(Error::Malformed("a function without operands"))?;
        if let (true, Some(y)) = (self.signed_zeros, y) {
            return Ok(of_signed_zeros(&mut self.builder, op, x, (y, z)));
        }
        if let Some(op) = unary(op) {
            return Ok(self.builder.unary(op, x));
        }
        if let Some(routine) = routine_of_one(op) {
            return Ok(routine(&mut self.builder, x));
        }
        let y = y.ok_or_else(|| Error::Unsupported(format!("{op:?}")))?;
        if let Some(op) = binary(op) {
            return Ok(self.builder.binary(op, x, y));
        }
        if op == G::Pow
            && let Some(product) = r::pow_by_product(&mut self.builder, x, y)
        {
            return Ok(product);
        }
        if let Some(routine) = routine_of_two(op) {
            return Ok(routine(&mut self.builder, x, y));
        }
        let z = z.ok_or_else(|| Error::Unsupported(format!("{op:?}")))?;
        self.ternary_function(op, x, y, z)
    }

    fn times(&mut self, x: Value, factor: f32) -> Value {
        let factor = self.builder.float_like(x, f64::from(factor));
        self.builder.binary(B::FMul, x, factor)
    }

    fn ternary_function(&mut self, op: G, x: Value, y: Value, z: Value) -> Result<Value> {
        let b = &mut self.builder;
        let clamp = match op {
            G::UClamp => Some((B::UMax, B::UMin)),
            G::SClamp => Some((B::SMax, B::SMin)),
            _ => None,
        };
        if let Some((max, min)) = clamp {
            let low = b.binary(max, x, y);
            return Ok(b.binary(min, low, z));
        }
        match op {
            G::Fma => Ok(b.ternary(T::Fma, x, y, z)),
            G::FClamp | G::NClamp => {
                let low = r::max_of_numbers(b, x, y);
                Ok(r::min_of_numbers(b, low, z))
            }
            G::FMix => {
                // x * (1 - z) + y * z.
                let one = b.float_like(z, 1.0);
                let rest = b.binary(B::FSub, one, z);
                let left = b.binary(B::FMul, x, rest);
                Ok(b.ternary(T::Fma, y, z, left))
            }
            G::SmoothStep => {
                let [zero, one, two, three] = [0.0, 1.0, -2.0, 3.0].map(|constant| b.float_like(x, constant));
                let (over, range) = (b.binary(B::FSub, z, x), b.binary(B::FSub, y, x));
                let t = b.binary(B::FDiv, over, range);
                // NaN, which equal edges or an operand may cause, becomes 0.
                let t = b.binary(B::FMax, zero, t);
                let t = b.binary(B::FMin, one, t);
                let rest = b.ternary(T::Fma, two, t, three);
                let square = b.binary(B::FMul, t, t);
                Ok(b.binary(B::FMul, square, rest))
            }
            other => Err(Error::Unsupported(format!("{other:?}"))),
        }
    }
}

fn operand(operands: &[Rc<[Value]>], index: usize) -> Result<Rc<[Value]>> {
    let found = operands.get(index).filter(|words| !words.is_empty()).cloned();
    found.ok_or(Error::Malformed("a function with too few operands"))
}

/// Returns a matrix without one column and one row.
fn without(columns: &[Vec<Value>], column: usize, row: usize) -> Vec<Vec<Value>> {
    let keep = |words: &Vec<Value>| -> Vec<Value> {
        words.iter().enumerate().filter(|(index, _)| *index != row).map(|(_, &word)| word).collect()
    };
    columns.iter().enumerate().filter(|(index, _)| *index != column).map(|(_, words)| keep(words)).collect()
}

/// Returns true for minima, maxima and clamps, which may have to distinguish -0 from 0.
fn orders_zeros(op: G) -> bool {
    matches!(op, G::FMin | G::FMax | G::FClamp | G::NMin | G::NMax | G::NClamp)
}

/// Appends a minimum, maximum or clamp for which -0 is less than 0.
fn of_signed_zeros(b: &mut Builder, op: G, x: Value, (y, z): (Value, Option<Value>)) -> Value {
    match z {
        Some(z) => {
            let low = extremum(b, false, x, y);
            extremum(b, true, low, z)
        }
        None => extremum(b, matches!(op, G::FMin | G::NMin), x, y),
    }
}

/// Appends a bitwise operation on single-precision or double-precision floats.
fn on_bits(b: &mut Builder, op: B, x: Value, y: Value) -> Value {
    let float = b.type_of(x);
    let bits = if float == Type::F64 { Type::I64 } else { Type::I32 };
    let (x, y) = (b.cast(x, bits), b.cast(y, bits));
    let word = b.binary(op, x, y);
    b.cast(word, float)
}

/// Returns the minimum or maximum of two numbers, for which -0 is less than 0.
fn extremum(b: &mut Builder, is_min: bool, x: Value, y: Value) -> Value {
    // Equal operands have equal bits, except for zeros, whose signs are combined.
    let (choice, join) = match is_min {
        true => (r::min_of_numbers(b, x, y), B::Or),
        false => (r::max_of_numbers(b, x, y), B::And),
    };
    let (equal, joined) = (b.binary(B::FEq, x, y), on_bits(b, join, x, y));
    b.select(equal, joined, choice)
}

fn unary(op: G) -> Option<U> {
    Some(match op {
        G::Round | G::RoundEven => U::RoundEven,
        G::Trunc => U::Trunc,
        G::FAbs => U::FAbs,
        G::SAbs => U::SAbs,
        G::Floor => U::Floor,
        G::Ceil => U::Ceil,
        G::Sqrt => U::Sqrt,
        _ => return None,
    })
}

fn binary(op: G) -> Option<B> {
    Some(match op {
        G::UMin => B::UMin,
        G::SMin => B::SMin,
        G::UMax => B::UMax,
        G::SMax => B::SMax,
        _ => return None,
    })
}

/// Returns the routine of a function with one operand.
fn routine_of_one(op: G) -> Option<fn(&mut Builder, Value) -> Value> {
    Some(match op {
        G::FSign => r::sign,
        G::SSign => r::sign_of_integer,
        G::Fract => r::fract,
        G::Sin => r::sin,
        G::Cos => r::cos,
        G::Tan => r::tan,
        G::Asin => r::asin,
        G::Acos => r::acos,
        G::Atan => r::atan,
        G::Sinh => r::sinh,
        G::Cosh => r::cosh,
        G::Tanh => r::tanh,
        G::Asinh => r::asinh,
        G::Acosh => r::acosh,
        G::Atanh => r::atanh,
        G::Exp => r::exp,
        G::Log => r::log,
        G::Exp2 => r::exp2,
        G::Log2 => r::log2,
        G::InverseSqrt => r::inverse_sqrt,
        G::FindILsb => r::find_lsb,
        G::FindSMsb => r::find_msb_signed,
        G::FindUMsb => r::find_msb_unsigned,
        _ => return None,
    })
}

/// Returns the routine of a function with two operands.
fn routine_of_two(op: G) -> Option<fn(&mut Builder, Value, Value) -> Value> {
    Some(match op {
        G::Atan2 => r::atan2,
        G::Pow => r::pow,
        // SPIR-V does not specify which operand FMin and FMax return if one is NaN. Programs
        // expect the number.
        G::FMin | G::NMin => r::min_of_numbers,
        G::FMax | G::NMax => r::max_of_numbers,
        G::Step => r::step,
        G::Ldexp => r::ldexp,
        _ => return None,
    })
}
