//! Routines written in IR, for functions that programs call and processors have no instruction
//! for.
//!
//! The routines consist of the IR's primitive operations, each rounded separately, with explicit
//! fused multiply-adds. The interpreter and all code generators therefore compute identical bits.
//!
//! Polynomials are minimax fits of the relative error over the reduced ranges that the comments
//! name. Coefficients were rounded one at a time, from the lowest on, and the others refitted
//! after each. Conversions to integers are expensive, so whole numbers come from the low bits of
//! sums with `WHOLE`. Tests measure the precision. Source: Vulkan specification, "Precision and
//! Operation of SPIR-V Instructions".

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

/// Sign bit of a float.
const SIGN: u32 = 0x8000_0000;

/// 1.5 * 2^23. Floats of this magnitude are whole numbers. A sum with this constant is therefore
/// rounded to a whole number, which the low bits of the sum contain.
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

/// Computes `x * factor`.
fn times(b: &mut Builder, x: Value, factor: f32) -> Value {
    let factor = b.float(factor);
    mul(b, x, factor)
}

/// Computes `x + term`.
fn plus(b: &mut Builder, x: Value, term: f32) -> Value {
    let term = b.float(term);
    add(b, x, term)
}

/// Computes `x * factor + z`.
fn fma_constant(b: &mut Builder, x: Value, factor: f32, z: Value) -> Value {
    let factor = b.float(factor);
    fma(b, x, factor, z)
}

/// Evaluates a polynomial in `x`. The coefficient of the highest power comes first.
fn polynomial(b: &mut Builder, x: Value, coefficients: &[f32]) -> Value {
    let mut sum = b.float(coefficients[0]);
    for &coefficient in &coefficients[1..] {
        let coefficient = b.float(coefficient);
        sum = fma(b, sum, x, coefficient);
    }
    sum
}

/// Computes `x + x^3 * series(x^2)`.
fn odd(b: &mut Builder, x: Value, series: &[f32]) -> Value {
    let square = mul(b, x, x);
    let value = polynomial(b, square, series);
    let cubic = mul(b, square, x);
    fma(b, value, cubic, x)
}

fn abs(b: &mut Builder, x: Value) -> Value {
    b.unary(U::FAbs, x)
}

/// Computes `x < limit`.
fn less(b: &mut Builder, x: Value, limit: f32) -> Value {
    let limit = b.float(limit);
    b.binary(B::FLt, x, limit)
}

/// Computes `x > limit`.
fn greater(b: &mut Builder, x: Value, limit: f32) -> Value {
    let limit = b.float(limit);
    b.binary(B::FLt, limit, x)
}

/// Clamps `x` to two limits. NaN stays NaN.
fn clamp(b: &mut Builder, x: Value, low: f32, high: f32) -> Value {
    let (low, high) = (b.float(low), b.float(high));
    let x = b.binary(B::FMax, x, low);
    b.binary(B::FMin, x, high)
}

/// Extracts the sign bit of a float.
fn sign_bit(b: &mut Builder, x: Value) -> Value {
    let (bits, mask) = (b.cast(x, Type::I32), b.int(SIGN));
    b.binary(B::And, bits, mask)
}

/// Flips the sign of `x` where `bits` contains the sign bit.
fn flip_sign(b: &mut Builder, x: Value, bits: Value) -> Value {
    let word = b.cast(x, Type::I32);
    let flipped = b.binary(B::Xor, word, bits);
    b.cast(flipped, Type::F32)
}

/// Returns the result of a routine for constant operands.
///
/// # Errors
/// Returns the routine's error.
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
