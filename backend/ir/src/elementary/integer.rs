//! Integer functions and bit manipulation.

use super::{B, Builder, Type, U, Value};

/// Returns -1, 0 or 1.
pub fn sign_of_integer(b: &mut Builder, x: Value) -> Value {
    let (low, high) = (b.int_like(x, -1), b.int_like(x, 1));
    let x = b.binary(B::SMax, x, low);
    b.binary(B::SMin, x, high)
}

/// Returns the remainder with the sign of `y`. Returns -1 if `y` is 0, as `SRem` does.
pub fn floor_modulo(b: &mut Builder, x: Value, y: Value) -> Value {
    let zero = b.int_like(x, 0);
    let remainder = b.binary(B::SRem, x, y);
    let nonzero = b.binary(B::INe, remainder, zero);
    let signs = b.binary(B::Xor, remainder, y);
    let differ = b.binary(B::SLt, signs, zero);
    let moves = b.binary(B::LogicalAnd, nonzero, differ);
    let moved = b.binary(B::IAdd, remainder, y);
    b.select(moves, moved, remainder)
}

/// Returns 1 if the sum of two unsigned integers overflows, else 0.
pub fn add_carry(b: &mut Builder, x: Value, y: Value) -> Value {
    let sum = b.binary(B::IAdd, x, y);
    let carries = b.binary(B::ULt, sum, x);
    let ty = b.type_of(x);
    b.cast(carries, ty)
}

/// Returns 1 if the difference of two unsigned integers is negative, else 0.
pub fn sub_borrow(b: &mut Builder, x: Value, y: Value) -> Value {
    let borrows = b.binary(B::ULt, x, y);
    let ty = b.type_of(x);
    b.cast(borrows, ty)
}

/// Returns the upper half of the product of two 64-bit integers.
pub fn multiply_high(b: &mut Builder, x: Value, y: Value, signed: bool) -> Value {
    let ([x_low, x_high], [y_low, y_high]) = (b.split(x), b.split(y));
    let product = |b: &mut Builder, x: Value, y: Value| {
        let (low, high) = (b.binary(B::IMul, x, y), b.binary(B::UMulHi, x, y));
        b.join(low, high, Type::I64)
    };
    let add_word = |b: &mut Builder, sum: Value, word: Value| {
        let word = b.extend(word, false);
        b.binary(B::IAdd, sum, word)
    };
    // No sum overflows, because a product of two words is at most (2^32 - 1)^2.
    let lowest = b.binary(B::UMulHi, x_low, y_low);
    let (one, other) = (product(b, x_low, y_high), product(b, x_high, y_low));
    let one = add_word(b, one, lowest);
    let [one_low, one_high] = b.split(one);
    let other = add_word(b, other, one_low);
    let other_high = b.split(other)[1];
    let highest = product(b, x_high, y_high);
    let highest = add_word(b, highest, one_high);
    let highest = add_word(b, highest, other_high);
    if !signed {
        return highest;
    }
    // The unsigned product interprets a negative factor as a number that is larger by 2^64.
    [(x_high, y), (y_high, x)].into_iter().fold(highest, |sum, (sign, factor)| {
        let (zero, nothing) = (b.int(0), b.wide_constant(0, Type::I64));
        let negative = b.binary(B::SLt, sign, zero);
        let excess = b.select(negative, factor, nothing);
        b.binary(B::ISub, sum, excess)
    })
}

/// Reverses the order of the bits.
pub fn bit_reverse(b: &mut Builder, x: Value) -> Value {
    if b.is_wide(x) {
        let [high, low] = b.split(x).map(|word| bit_reverse(b, word));
        return b.join(low, high, Type::I64);
    }
    let swap = |b: &mut Builder, x: Value, mask: u32, count: u32| {
        let (mask, count) = (b.int(mask), b.int(count));
        let high = b.binary(B::ShrLogical, x, count);
        let high = b.binary(B::And, high, mask);
        let low = b.binary(B::And, x, mask);
        let low = b.binary(B::Shl, low, count);
        b.binary(B::Or, high, low)
    };
    let steps = [(0x5555_5555, 1), (0x3333_3333, 2), (0x0f0f_0f0f, 4), (0x00ff_00ff, 8), (0x0000_ffff, 16)];
    steps.into_iter().fold(x, |x, (mask, count)| swap(b, x, mask, count))
}

/// Returns the number of the lowest set bit as a word, or -1 if no bit is set.
pub fn find_lsb(b: &mut Builder, x: Value) -> Value {
    if b.is_wide(x) {
        let words = b.split(x);
        let [low, high] = words.map(|word| find_lsb(b, word));
        let high = in_high_word(b, high);
        return of_either(b, words[0], low, high);
    }
    let (zero, one, none) = (b.int(0), b.int(1), b.int(u32::MAX));
    let negated = b.unary(U::INeg, x);
    let lowest = b.binary(B::And, x, negated);
    let below = b.binary(B::ISub, lowest, one);
    let count = b.unary(U::BitCount, below);
    let nothing = b.binary(B::IEq, x, zero);
    b.select(nothing, none, count)
}

/// Converts a bit number in the high word to a bit number in 64 bits. -1 stays -1.
fn in_high_word(b: &mut Builder, number: Value) -> Value {
    let words = b.int(32);
    b.binary(B::Or, number, words)
}

/// Returns `found`, or `other` if `word` is 0.
fn of_either(b: &mut Builder, word: Value, found: Value, other: Value) -> Value {
    let zero = b.int(0);
    let nothing = b.binary(B::IEq, word, zero);
    b.select(nothing, other, found)
}

/// Returns the number of the highest set bit as a word, or -1 if no bit is set.
pub fn find_msb_unsigned(b: &mut Builder, x: Value) -> Value {
    if b.is_wide(x) {
        let words = b.split(x);
        let [low, high] = words.map(|word| find_msb_unsigned(b, word));
        let high = in_high_word(b, high);
        return of_either(b, words[1], high, low);
    }
    let smeared = [1, 2, 4, 8, 16].into_iter().fold(x, |x, count| {
        let count = b.int(count);
        let shifted = b.binary(B::ShrLogical, x, count);
        b.binary(B::Or, x, shifted)
    });
    let (count, one) = (b.unary(U::BitCount, smeared), b.int(1));
    b.binary(B::ISub, count, one)
}

/// Returns the number of the highest bit that differs from the sign, as a word, or -1 if none
/// does.
pub fn find_msb_signed(b: &mut Builder, x: Value) -> Value {
    let shift = b.int(if b.is_wide(x) { 63 } else { 31 });
    let sign = b.binary(B::ShrArithmetic, x, shift);
    let size = b.binary(B::Xor, x, sign);
    find_msb_unsigned(b, size)
}

/// Returns a mask of `count` ones from bit `offset` on, as wide as `like`.
pub fn bit_field_mask(b: &mut Builder, like: Value, offset: Value, count: Value) -> Value {
    let ones = low_ones(b, like, count);
    b.binary(B::Shl, ones, offset)
}

/// Returns a mask of the `count` lowest bits. `count` is from 0 to the width of `like`.
fn low_ones(b: &mut Builder, like: Value, count: Value) -> Value {
    // A shift by the full width gives 0, and 0 - 1 has all bits set.
    let one = b.int_like(like, 1);
    let bit = b.binary(B::Shl, one, count);
    b.binary(B::ISub, bit, one)
}

/// Returns `count` bits of `x` from bit `offset` on.
pub fn extract_unsigned(b: &mut Builder, x: Value, offset: Value, count: Value) -> Value {
    let ones = low_ones(b, x, count);
    let low = b.binary(B::ShrLogical, x, offset);
    b.binary(B::And, low, ones)
}

/// Returns `count` bits of `x` from bit `offset` on, sign-extended. Bits above the highest bit of
/// `x` are copies of that bit. A `count` above the width is treated as the width, if it is at most
/// `i32::MAX` greater.
pub fn extract_signed(b: &mut Builder, x: Value, offset: Value, count: Value) -> Value {
    let whole = if b.is_wide(x) { 64u32 } else { 32 };
    let unused = match b.as_constant(count) {
        Some(count) => b.int(whole.saturating_sub(count)),
        None => {
            let (whole, zero) = (b.int(whole), b.int(0));
            let unused = b.binary(B::ISub, whole, count);
            b.binary(B::SMax, unused, zero)
        }
    };
    let low = b.binary(B::ShrArithmetic, x, offset);
    let high = b.binary(B::Shl, low, unused);
    b.binary(B::ShrArithmetic, high, unused)
}
