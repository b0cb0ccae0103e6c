//! 64-bit numbers in the builder, as pairs of words.
//!
//! A value of a 64-bit type has a number from [`FIRST_PAIR`] on. No instruction defines or uses
//! it; the builder stores its two words. Operations on the value become operations on words, or a
//! [`Wide`] instruction. Locals, and all other storage that counts scalars, keep high words
//! separately, after the low words.

use super::builder::FIRST_PAIR;
use super::{BinaryOp as B, Builder, Inst, TernaryOp as T, Type, UnaryOp as U, Value, Wide, WideOp};

/// Sign bit of the high word.
const SIGN: u32 = 0x8000_0000;

impl Builder {
    /// Creates a 64-bit value of a low and a high word. The words of a float are integers, too.
    pub fn join(&mut self, low: Value, high: Value, ty: Type) -> Value {
        self.pairs.push((ty, [low, high]));
        Value(FIRST_PAIR + self.pairs.len() as u32 - 1)
    }

    /// Returns the low and the high word of a 64-bit value. Returns any other value twice.
    pub fn split(&self, value: Value) -> [Value; 2] {
        match value.0.checked_sub(FIRST_PAIR) {
            Some(pair) => self.pairs[pair as usize].1,
            None => [value; 2],
        }
    }

    /// Returns true if a value is a pair of words.
    pub fn is_wide(&self, value: Value) -> bool {
        value.0 >= FIRST_PAIR
    }

    /// Returns a 64-bit constant.
    pub fn wide_constant(&mut self, bits: u64, ty: Type) -> Value {
        let (low, high) = (self.int(bits as u32), self.int((bits >> 32) as u32));
        self.join(low, high, ty)
    }

    /// Returns a constant of the floating-point type of `like`.
    pub fn float_like(&mut self, like: Value, value: f64) -> Value {
        match self.type_of(like) {
            Type::F64 => self.wide_constant(value.to_bits(), Type::F64),
            _ => self.float(value as f32),
        }
    }

    /// Returns a constant of the integer type of `like`.
    pub fn int_like(&mut self, like: Value, value: i64) -> Value {
        match self.type_of(like) {
            Type::I64 => self.wide_constant(value as u64, Type::I64),
            _ => self.int(value as u32),
        }
    }

    /// Appends an operation on whole 64-bit numbers, whose result has type `ty`.
    pub fn wide(&mut self, op: WideOp, operands: &[Value], ty: Type) -> Value {
        let mut words = Vec::new();
        for &operand in operands {
            match self.is_wide(operand) {
                true => words.extend(self.split(operand)),
                false => words.push(operand),
            }
        }
        let (is_wide, word) = if ty.is_wide() { (true, Type::I32) } else { (false, ty) };
        let result = self.value(word);
        let high = is_wide.then(|| self.value(word));
        self.push(Inst::Wide(Box::new(Wide { op, words, result })));
        high.map_or(result, |high| self.join(result, high, ty))
    }

    /// Extends a 32-bit integer to 64 bits.
    pub fn extend(&mut self, word: Value, signed: bool) -> Value {
        let high = if signed {
            let count = self.int(31);
            self.binary(B::ShrArithmetic, word, count)
        } else {
            self.int(0)
        };
        self.join(word, high, Type::I64)
    }

    fn map_words(&mut self, value: Value, mut map: impl FnMut(&mut Self, Value) -> Value) -> Value {
        let (ty, words) = (self.type_of(value), self.split(value));
        let [low, high] = words.map(|word| map(self, word));
        self.join(low, high, ty)
    }

    fn map_high(&mut self, value: Value, op: B, word: u32) -> Value {
        let (ty, [low, high]) = (self.type_of(value), self.split(value));
        let word = self.int(word);
        let high = self.binary(op, high, word);
        self.join(low, high, ty)
    }

    pub(super) fn wide_cast(&mut self, value: Value, ty: Type) -> Value {
        let [low, high] = self.split(value);
        match ty {
            Type::I64 | Type::F64 if self.is_wide(value) => self.join(low, high, ty),
            Type::I64 | Type::F64 => {
                let zero = self.int(0);
                let low = self.cast(low, Type::I32);
                self.join(low, zero, ty)
            }
            _ => self.cast(low, ty),
        }
    }

    pub(super) fn wide_unary(&mut self, op: U, a: Value) -> Value {
        let float = |wide| (wide, Type::F64);
        let (wide, ty) = match op {
            U::INeg => {
                let zero = self.wide_constant(0, Type::I64);
                return self.binary(B::ISub, zero, a);
            }
            U::BitNot => return self.map_words(a, |builder, word| builder.unary(U::BitNot, word)),
            U::SAbs => {
                let negated = self.unary(U::INeg, a);
                return self.binary(B::SMax, a, negated);
            }
            U::BitCount => {
                let [low, high] = self.split(a).map(|word| self.unary(U::BitCount, word));
                return self.binary(B::IAdd, low, high);
            }
            U::FNeg => return self.map_high(a, B::Xor, SIGN),
            U::FAbs => return self.map_high(a, B::And, !SIGN),
            U::IsNan => return self.binary(B::FNe, a, a),
            U::Sqrt => float(WideOp::Sqrt),
            U::Floor => float(WideOp::Floor),
            U::Ceil => float(WideOp::Ceil),
            U::Trunc => float(WideOp::Trunc),
            U::RoundEven => float(WideOp::RoundEven),
            U::FlushDenormal => float(WideOp::FlushDenormal),
            U::SToF => (WideOp::S64ToF32, Type::F32),
            U::UToF => (WideOp::U64ToF32, Type::F32),
            U::FToS => (WideOp::F64ToS64, Type::I64),
            U::FToU => (WideOp::F64ToU64, Type::I64),
            U::AsBool => {
                let [low, high] = self.split(a);
                let any = self.binary(B::Or, low, high);
                return self.unary(U::AsBool, any);
            }
            _ => return a,
        };
        self.wide(wide, &[a], ty)
    }

    pub(super) fn wide_binary(&mut self, op: B, a: Value, b: Value) -> Value {
        match op {
            B::And | B::Or | B::Xor => {
                let ([al, ah], [bl, bh]) = (self.split(a), self.split(b));
                let (low, high) = (self.binary(op, al, bl), self.binary(op, ah, bh));
                self.join(low, high, Type::I64)
            }
            B::IAdd => self.wide_add(a, b),
            B::ISub => self.wide_subtract(a, b),
            B::IMul => self.wide_multiply(a, b),
            B::Shl | B::ShrLogical | B::ShrArithmetic => {
                let count = self.split(b)[0];
                self.wide_shift(op, a, count)
            }
            B::SMin | B::SMax | B::UMin | B::UMax => {
                let less = if matches!(op, B::SMin | B::SMax) { B::SLt } else { B::ULt };
                let smaller = matches!(op, B::SMin | B::UMin);
                let chosen = if smaller { self.binary(less, b, a) } else { self.binary(less, a, b) };
                self.select(chosen, b, a)
            }
            B::IEq | B::INe => self.wide_equal(op, a, b),
            B::SLt | B::ULt => self.wide_less(op, a, b),
            B::SLe | B::ULe => {
                let greater = self.wide_less(if op == B::SLe { B::SLt } else { B::ULt }, b, a);
                self.unary(U::LogicalNot, greater)
            }
            _ => {
                let (wide, ty) = whole_operation(op);
                self.wide(wide, &[a, b], ty)
            }
        }
    }

    fn carry(&mut self, condition: Value) -> Value {
        let (one, zero) = (self.int(1), self.int(0));
        self.select(condition, one, zero)
    }

    fn wide_add(&mut self, a: Value, b: Value) -> Value {
        let ([al, ah], [bl, bh]) = (self.split(a), self.split(b));
        let low = self.binary(B::IAdd, al, bl);
        let overflows = self.binary(B::ULt, low, al);
        let carry = self.carry(overflows);
        let high = self.binary(B::IAdd, ah, bh);
        let high = self.binary(B::IAdd, high, carry);
        self.join(low, high, Type::I64)
    }

    fn wide_subtract(&mut self, a: Value, b: Value) -> Value {
        let ([al, ah], [bl, bh]) = (self.split(a), self.split(b));
        let low = self.binary(B::ISub, al, bl);
        let borrows = self.binary(B::ULt, al, bl);
        let borrow = self.carry(borrows);
        let high = self.binary(B::ISub, ah, bh);
        let high = self.binary(B::ISub, high, borrow);
        self.join(low, high, Type::I64)
    }

    fn wide_multiply(&mut self, a: Value, b: Value) -> Value {
        let ([al, ah], [bl, bh]) = (self.split(a), self.split(b));
        let low = self.binary(B::IMul, al, bl);
        let high = self.binary(B::UMulHi, al, bl);
        let (left, right) = (self.binary(B::IMul, al, bh), self.binary(B::IMul, ah, bl));
        let crossed = self.binary(B::IAdd, left, right);
        let high = self.binary(B::IAdd, high, crossed);
        self.join(low, high, Type::I64)
    }

    /// Shifts a pair of words. Word shifts by 32 or more give 0, or the sign, which also covers
    /// counts that wrapped around.
    fn wide_shift(&mut self, op: B, a: Value, count: Value) -> Value {
        let [low, high] = self.split(a);
        let word = self.int(32);
        let (rest, over) = (self.binary(B::ISub, word, count), self.binary(B::ISub, count, word));
        if op == B::Shl {
            let kept = self.binary(B::Shl, high, count);
            let crossed = self.binary(B::ShrLogical, low, rest);
            let moved = self.binary(B::Shl, low, over);
            let high = self.binary(B::Or, kept, crossed);
            let (high, low) = (self.binary(B::Or, high, moved), self.binary(B::Shl, low, count));
            return self.join(low, high, Type::I64);
        }
        let kept = self.binary(B::ShrLogical, low, count);
        let crossed = self.binary(B::Shl, high, rest);
        let moved = self.binary(op, high, over);
        let within = self.binary(B::ULt, count, word);
        let together = self.binary(B::Or, kept, crossed);
        let low = self.select(within, together, moved);
        let high = self.binary(op, high, count);
        self.join(low, high, Type::I64)
    }

    fn wide_equal(&mut self, op: B, a: Value, b: Value) -> Value {
        let ([al, ah], [bl, bh]) = (self.split(a), self.split(b));
        let (low, high) = (self.binary(op, al, bl), self.binary(op, ah, bh));
        self.binary(if op == B::IEq { B::LogicalAnd } else { B::LogicalOr }, low, high)
    }

    fn wide_less(&mut self, op: B, a: Value, b: Value) -> Value {
        let ([al, ah], [bl, bh]) = (self.split(a), self.split(b));
        let (above, equal) = (self.binary(op, ah, bh), self.binary(B::IEq, ah, bh));
        let below = self.binary(B::ULt, al, bl);
        let below = self.binary(B::LogicalAnd, equal, below);
        self.binary(B::LogicalOr, above, below)
    }

    pub(super) fn wide_fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.wide(WideOp::Fma, &[a, b, c], Type::F64)
    }

    pub(super) fn wide_select(&mut self, condition: Value, b: Value, c: Value) -> Value {
        let ty = self.type_of(b);
        let ([bl, bh], [cl, ch]) = (self.split(b), self.split(c));
        let (low, high) = (self.ternary(T::Select, condition, bl, cl), self.ternary(T::Select, condition, bh, ch));
        self.join(low, high, ty)
    }
}

/// Returns the operation on whole 64-bit numbers for an operation with two operands. The front end
/// uses no others.
fn whole_operation(op: B) -> (WideOp, Type) {
    match op {
        B::FAdd => (WideOp::FAdd, Type::F64),
        B::FSub => (WideOp::FSub, Type::F64),
        B::FMul => (WideOp::FMul, Type::F64),
        B::FDiv => (WideOp::FDiv, Type::F64),
        B::FMin => (WideOp::FMin, Type::F64),
        B::FMax => (WideOp::FMax, Type::F64),
        B::FEq => (WideOp::FEq, Type::Bool),
        B::FNe => (WideOp::FNe, Type::Bool),
        B::FLt => (WideOp::FLt, Type::Bool),
        B::FLe => (WideOp::FLe, Type::Bool),
        B::SDiv => (WideOp::SDiv, Type::I64),
        B::UDiv => (WideOp::UDiv, Type::I64),
        B::SRem => (WideOp::SRem, Type::I64),
        _ => (WideOp::UMod, Type::I64),
    }
}
