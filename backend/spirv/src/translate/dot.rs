//! Integer dot products of vectors and of four bytes packed in a dword. Source:
//! `SPV_KHR_integer_dot_product`.

use spirv::Op;
use vitric_ir::{BinaryOp as B, Builder, Type, Value, elementary};

use super::Translator;
use crate::number::{self, Number, NumberTypes};
use crate::parse::Instruction;
use crate::{Error, Result};

/// Returns true for integer dot products.
pub(super) fn is_dot(op: Op) -> bool {
    (Op::SDot as u32..=Op::SUDotAccSat as u32).contains(&(op as u32))
}

impl Translator<'_> {
    pub(super) fn integer_dot(&mut self, inst: &Instruction) -> Result<()> {
        let (signed_a, signed_b) = match inst.op {
            Op::SDot | Op::SDotAccSat => (true, true),
            Op::UDot | Op::UDotAccSat => (false, false),
            _ => (true, false),
        };
        let to = Number::of(self.module, inst.word(0)?)?;
        if let Some(sum) = self.dot_of_packed(inst, (signed_a, signed_b), to)? {
            return self.define_dot(inst, sum, signed_a);
        }
        let left = self.dot_operand(inst.word(2)?, signed_a, to)?;
        let right = self.dot_operand(inst.word(3)?, signed_b, to)?;
        if left.len() != right.len() || left.is_empty() {
            return Err(Error::Malformed("a product of different sizes"));
        }
        let b = &mut self.builder;
        let products: Vec<Value> = left.iter().zip(&right).map(|(&x, &y)| b.binary(B::IMul, x, y)).collect();
        let sum = products[1..].iter().fold(products[0], |sum, &product| b.binary(B::IAdd, sum, product));
        self.define_dot(inst, sum, signed_a)
    }

    /// Returns the product of two dwords of four bytes.
    fn dot_of_packed(&mut self, inst: &Instruction, signs: (bool, bool), to: Number) -> Result<Option<Value>> {
        let [(left_type, left), (right_type, right)] =
            [self.typed_words(inst.word(2)?)?, self.typed_words(inst.word(3)?)?];
        let (&[left], &[right]) = (&left[..], &right[..]) else { return Ok(None) };
        for ty in [left_type, right_type] {
            if Number::of(self.module, ty)? != Number::Int(32) {
                return Ok(None);
            }
        }
        let op = match signs {
            (true, true) => B::SDot,
            (false, false) => B::UDot,
            _ => B::SUDot,
        };
        let sum = self.builder.binary(op, left, right);
        Ok(Some(if to == Number::Int(64) { self.builder.extend(sum, signs.0) } else { sum }))
    }

    /// Defines the result of a dot product, which is a sum of products.
    fn define_dot(&mut self, inst: &Instruction, sum: Value, signed_a: bool) -> Result<()> {
        let (ty, id) = (inst.word(0)?, inst.word(1)?);
        let to = Number::of(self.module, ty)?;
        let saturates = matches!(inst.op, Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat);
        let value = if saturates {
            let accumulator = self.word(inst.word(4)?)?;
            saturating_add(&mut self.builder, (sum, accumulator), signed_a, to)
        } else {
            sum
        };
        let value = number::narrow(&mut self.builder, value, to);
        self.define_words(id, ty, vec![value])
    }

    /// Returns the components of an operand as 64-bit integers if the result has 64 bits,
    /// otherwise as dwords.
    fn dot_operand(&mut self, id: u32, is_signed: bool, to: Number) -> Result<Vec<Value>> {
        let (ty, words) = self.typed_words(id)?;
        let from = Number::of(self.module, ty)?;
        let (words, from) = match words[..] {
            // A scalar is four packed bytes, the only packed format.
            [word] => {
                let byte = Number::Int(8);
                (number::bitcast(&mut self.builder, &[word], NumberTypes { from, to: byte }, 4), byte)
            }
            _ => (words.to_vec(), from),
        };
        let b = &mut self.builder;
        let extend = |word: Value| {
            let word = if is_signed { number::signed(b, word, from) } else { word };
            if to == Number::Int(64) && !b.is_wide(word) { b.extend(word, is_signed) } else { low_bits(b, word, to) }
        };
        Ok(words.into_iter().map(extend).collect())
    }
}

/// Returns the low bits of a component that is wider than the result.
fn low_bits(b: &Builder, word: Value, to: Number) -> Value {
    if to == Number::Int(64) { word } else { b.split(word)[0] }
}

/// Returns the sum of two numbers, or the closest number of the result's type.
pub(super) fn saturating_add(b: &mut Builder, (x, y): (Value, Value), is_signed: bool, to: Number) -> Value {
    let sum = |b: &mut Builder| b.binary(B::IAdd, x, y);
    match (to, is_signed) {
        (Number::Int(bits @ (8 | 16)), true) => {
            let (zero, count) = (b.int(0), b.int(bits));
            let y = elementary::extract_signed(b, y, zero, count);
            let sum = b.binary(B::IAdd, x, y);
            let (least, most) = (b.int((-1i32 << (bits - 1)) as u32), b.int((1 << (bits - 1)) - 1));
            let sum = b.binary(B::SMax, sum, least);
            b.binary(B::SMin, sum, most)
        }
        (Number::Int(bits @ (8 | 16)), false) => {
            let (sum, most) = (sum(b), b.int((1 << bits) - 1));
            b.binary(B::UMin, sum, most)
        }
        (_, false) => {
            let sum = sum(b);
            let (over, most) = (b.binary(B::ULt, sum, x), all_ones(b, to));
            b.select(over, most, sum)
        }
        (_, true) => {
            let sum = sum(b);
            let (left, right) = (b.binary(B::Xor, x, sum), b.binary(B::Xor, y, sum));
            let both = b.binary(B::And, left, right);
            let zero = integer(b, 0, to);
            let over = b.binary(B::SLt, both, zero);
            let (least, most) = match to {
                Number::Int(64) => (i64::MIN as u64, i64::MAX as u64),
                _ => (u64::from(i32::MIN as u32), i32::MAX as u64),
            };
            let (least, most) = (integer(b, least, to), integer(b, most, to));
            let negative = b.binary(B::SLt, x, zero);
            let limit = b.select(negative, least, most);
            b.select(over, limit, sum)
        }
    }
}

fn integer(b: &mut Builder, bits: u64, number: Number) -> Value {
    if number == Number::Int(64) { b.wide_constant(bits, Type::I64) } else { b.int(bits as u32) }
}

fn all_ones(b: &mut Builder, number: Number) -> Value {
    integer(b, u64::MAX, number)
}
