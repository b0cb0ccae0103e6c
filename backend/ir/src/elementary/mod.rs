//! Routines written as IR: what programs call and no machine has an instruction for.
//!
//! They consist of the IR's primitive operations, each rounded on its own, with explicit fused multiply-adds, so that the
//! interpreter and all code generators compute the same bits. Polynomials are minimax fits of the relative error over the
//! reduced ranges that the comments name, refitted after each coefficient was rounded, from the lowest on. Conversions to
//! integers are dear, so whole numbers are taken from the low bits of sums with `WHOLE`. Precision: Vulkan
//! specification, "Precision and Operation of SPIR-V Instructions"; the tests measure it.

mod exponential;
mod hyperbolic;
mod integer;
mod rounding;
mod trigonometric;

pub use exponential::{exp, exp2, inverse_sqrt, log, log2, pow, pow_by_product};
pub use hyperbolic::{acosh, asinh, atanh, cosh, sinh, tanh};
pub use integer::{
    add_carry, bit_field_mask, bit_reverse, extract_signed, extract_unsigned, find_lsb, find_msb_signed,
    find_msb_unsigned, floor_modulo, multiply_high, sign_of_integer, sub_borrow,
};
pub use rounding::{
    floor_modulo_of_floats, fract, frexp, is_infinite, ldexp, max_of_numbers, min_of_numbers, quantize_to_half,
    remainder_of_floats, sign, step,
};
pub use trigonometric::{acos, asin, atan, atan2, cos, sin, tan};

use crate::{BinaryOp as B, Builder, Inst, TernaryOp as T, Type, UnaryOp as U, Value, passes};

/// The sign bit of a float.
const SIGN: u32 = 0x8000_0000;

/// 1.5 * 2^23. Floats of its size are whole, so a sum with it is rounded to a whole number, which its low bits hold.
const WHOLE: f32 = 12_582_912.0;

fn add(b: &mut Builder, x: Value, y: Value) -> Value {
    b.binary(B::FAdd, x, y)
}

fn sub(b: &mut Builder, x: Value, y: Value) -> Value {
    b.binary(B::FSub, x, y)
}

fn mul(b: &mut Builder, x: Value, y: Value) -> Value {
    b.binary(B::FMul, x, y)
}

fn div(b: &mut Builder, x: Value, y: Value) -> Value {
    b.binary(B::FDiv, x, y)
}

fn fma(b: &mut Builder, x: Value, y: Value, z: Value) -> Value {
    b.ternary(T::Fma, x, y, z)
}

/// `x * factor`.
fn times(b: &mut Builder, x: Value, factor: f32) -> Value {
    let factor = b.float(factor);
    mul(b, x, factor)
}

/// `x + term`.
fn plus(b: &mut Builder, x: Value, term: f32) -> Value {
    let term = b.float(term);
    add(b, x, term)
}

/// `x * factor + z`.
fn fma_constant(b: &mut Builder, x: Value, factor: f32, z: Value) -> Value {
    let factor = b.float(factor);
    fma(b, x, factor, z)
}

/// A polynomial in `x`, the highest coefficient first.
fn polynomial(b: &mut Builder, x: Value, coefficients: &[f32]) -> Value {
    let mut sum = b.float(coefficients[0]);
    for &coefficient in &coefficients[1..] {
        let coefficient = b.float(coefficient);
        sum = fma(b, sum, x, coefficient);
    }
    sum
}

/// `x + x^3 * series(x^2)`.
fn odd(b: &mut Builder, x: Value, series: &[f32]) -> Value {
    let square = mul(b, x, x);
    let value = polynomial(b, square, series);
    let cubic = mul(b, square, x);
    fma(b, value, cubic, x)
}

fn abs(b: &mut Builder, x: Value) -> Value {
    b.unary(U::FAbs, x)
}

/// `x < limit`.
fn less(b: &mut Builder, x: Value, limit: f32) -> Value {
    let limit = b.float(limit);
    b.binary(B::FLt, x, limit)
}

/// `x > limit`.
fn greater(b: &mut Builder, x: Value, limit: f32) -> Value {
    let limit = b.float(limit);
    b.binary(B::FLt, limit, x)
}

/// `x` between two limits; NaN stays.
fn clamp(b: &mut Builder, x: Value, low: f32, high: f32) -> Value {
    let (low, high) = (b.float(low), b.float(high));
    let x = b.binary(B::FMax, x, low);
    b.binary(B::FMin, x, high)
}

/// The sign bit of a float.
fn sign_bit(b: &mut Builder, x: Value) -> Value {
    let (bits, mask) = (b.cast(x, Type::I32), b.int(SIGN));
    b.binary(B::And, bits, mask)
}

/// `x` with these sign bits flipped.
fn flip_sign(b: &mut Builder, x: Value, bits: Value) -> Value {
    let word = b.cast(x, Type::I32);
    let flipped = b.binary(B::Xor, word, bits);
    b.cast(flipped, Type::F32)
}

/// What a routine gives for constant words.
///
/// # Errors
/// Those of the routine.
pub fn evaluate<E>(
    operands: &[(u64, Type)],
    routine: impl FnOnce(&mut Builder, &[Value]) -> Result<Value, E>,
) -> Result<u64, E> {
    let mut b = Builder::new();
    let constant = |&(bits, ty): &(u64, Type)| match ty {
        Type::I64 | Type::F64 => b.wide_constant(bits, ty),
        _ => b.constant(bits as u32, ty),
    };
    let operands: Vec<Value> = operands.iter().map(constant).collect();
    let value = routine(&mut b, &operands)?;
    let words = if b.is_wide(value) { 2 } else { 1 };
    for (slot, value) in b.split(value).into_iter().take(words).enumerate() {
        b.push(Inst::Output { slot: slot as u32, value });
    }
    let mut function = b.finish();
    passes::fold::run(&mut function);
    let word = |value: Value| {
        let constant = |inst: &Inst| match inst {
            Inst::Const { result, word } if *result == value => Some(u64::from(*word)),
            _ => None,
        };
        function.insts.iter().find_map(constant).unwrap_or(0)
    };
    let bits = function.insts.iter().map(|inst| match inst {
        Inst::Output { slot, value } => word(*value) << (32 * slot),
        _ => 0,
    });
    Ok(bits.fold(0, |all, bits| all | bits))
}
